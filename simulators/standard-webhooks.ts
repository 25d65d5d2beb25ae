import { createHmac } from 'node:crypto';
import type { UnsignedMessage, WebhookTarget } from './webhook-sender.ts';

const OTHER_SECRET = 'whsec_bm90IHRoZSBzZWNyZXQ=';

/**
 * The three headers of the Standard Webhooks specification: HMAC-SHA256 over `id.timestamp.body`, keyed with the
 * base64 rest of a `whsec_` secret.
 */
function signWebhook(event: UnsignedMessage, secret: string) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${event.id}.${event.timestampS}.${event.body}`).digest('base64');
  return {
    'webhook-id': event.id,
    'webhook-timestamp': String(event.timestampS),
    'webhook-signature': `v1,${signature}`,
  };
}

/** A receiver that shares a `whsec_` secret with the sender. */
export function standardTarget({
  secret,
  ...target
}: {
  url: string;
  secret: string;
  retryBaseMs: number;
}): WebhookTarget {
  return { ...target, sign: (message) => signWebhook(message, message.isForged ? OTHER_SECRET : secret) };
}
