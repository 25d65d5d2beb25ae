import { createHmac } from 'node:crypto';

/**
 * The three headers of the Standard Webhooks specification: HMAC-SHA256 over `id.timestamp.body`, keyed with the
 * base64 rest of a `whsec_` secret.
 */
export function signWebhook(event: { id: string; timestampS: number; body: string; secret: string }) {
  const key = Buffer.from(event.secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${event.id}.${event.timestampS}.${event.body}`).digest('base64');
  return {
    'webhook-id': event.id,
    'webhook-timestamp': String(event.timestampS),
    'webhook-signature': `v1,${signature}`,
  };
}
