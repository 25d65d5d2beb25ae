import type { BatchStatus } from '../batch-record.ts';
import { newId } from '../state.ts';
import type { WebhookSender, WebhookTarget } from '../webhook-sender.ts';
import { endError, time } from './operation.ts';
import type { BatchRecord } from './records.ts';
import type { GeminiSettings } from './settings.ts';
import type { TokenSigner } from './webhook-token.ts';

const LIFE_S = 300;
const ISSUER = 'https://generativelanguage.googleapis.com';
const EVENTS: Partial<Readonly<Record<BatchStatus, string>>> = {
  completed: 'batch.succeeded',
  failed: 'batch.failed',
  expired: 'batch.expired',
  cancelled: 'batch.cancelled',
};

/**
 * Announces the end of a batch with a thin event (Gemini API docs, webhooks): to the webhooks the batch names, which
 * then stand in for the usual one, else to that. What a `data.id` looks like for a batch is not documented; here it is
 * the batch's name.
 */
export function announceEnd(
  parts: { sender: WebhookSender; signer: TokenSigner; settings: GeminiSettings },
  batch: BatchRecord,
  nowMs: number,
): void {
  const own = batch.webhook?.uris.length ? batch.webhook : undefined;
  const event = {
    type: EVENTS[batch.status] ?? '',
    version: 'v1',
    timestamp: time(nowMs),
    data: { id: `batches/${batch.id}`, ...outcome(batch) },
    ...(own?.userMetadata !== undefined && { user_metadata: own.userMetadata }),
  };
  const targets = own?.uris.map((url) => tokenTarget(url, event, parts));
  const { type, data } = event;
  const facts = { type, batch_id: data.id, display_name: batch.displayName, kind: own ? 'dynamic' : 'static' };
  parts.sender.send({ id: newId('wh_'), body: JSON.stringify(event), facts }, targets);
}

function outcome(batch: BatchRecord): object {
  const { status, destination, result } = batch;
  if (status === 'failed') {
    const { code, message } = endError(batch) ?? {};
    return { error_code: code, error_message: message };
  }
  const fileId = destination === 'file' ? result?.outputFileId : null;
  return fileId ? { output_file_uri: `files/${fileId}` } : {};
}

/**
 * A receiver that checks an RS256 token in `Webhook-Signature` against the API's key set. Documented are the header, the
 * algorithm, the `kid`, an audience, and that the decoded token is the event; that the issuer is the API, that the
 * audience defaults to the receiver's address and that the token lives for five minutes is this simulator's choice.
 */
function tokenTarget(
  url: string,
  event: object,
  { signer, settings }: { signer: TokenSigner; settings: GeminiSettings },
): WebhookTarget {
  const { webhookAudience, webhookRetryBaseMs: retryBaseMs } = settings;
  return {
    url,
    retryBaseMs,
    sign({ id, timestampS, isForged }) {
      const claims = { iss: ISSUER, aud: webhookAudience ?? url, iat: timestampS, exp: timestampS + LIFE_S, ...event };
      return {
        'webhook-id': id,
        'webhook-timestamp': String(timestampS),
        'webhook-signature': signer.sign(claims, isForged),
      };
    },
  };
}
