import { Webhook } from 'standardwebhooks';
import type { LockedDelivery } from '../../db/webhook-attempts.ts';
import { deliveryContext } from '../../db/webhook-outbox.ts';
import { secretContext } from '../../db/webhook-secrets.ts';
import type { DeliveryError } from '../../domain/webhook-delivery.ts';
import { SealError } from '../../encryption/cipher.ts';
import { guardedRequest, OutgoingError, type OutgoingFault } from '../../outgoing/guarded-request.ts';
import { parseRetryAfterMs } from '../../providers/retry-after.ts';
import type { WebhookDependencies } from './dependencies.ts';

/** What a receiver said, in closed words and numbers: nothing of its body is read. */
export interface WebhookAnswer {
  readonly statusCode: number | null;
  /** Null for 2xx. */
  readonly error: DeliveryError | null;
  readonly retryAfterMs: number | null;
}

type Sending = Pick<WebhookDependencies, 'cipher' | 'allowedFetchHosts' | 'answerMs' | 'now'>;

/** Sends a delivery's bytes, signed for this moment with each secret that holds. Throws only when `signal` is aborted. */
export async function sendWebhook(
  { cipher, allowedFetchHosts: allowedHosts, answerMs, now }: Sending,
  delivery: LockedDelivery,
  attempt: number,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const opened = await openSealed(cipher, delivery);
  if (opened === null) return { statusCode: null, error: 'secret_unavailable', retryAfterMs: null };
  const { body } = opened;
  const limit = AbortSignal.timeout(answerMs);
  try {
    const response = await guardedRequest({
      url: delivery.url,
      allowedHosts,
      method: 'POST',
      headers: headersOf(delivery.eventId, opened, attempt, now()),
      body,
      idleMs: answerMs,
      signal: AbortSignal.any([signal, limit]),
    });
    response.destroy();
    const statusCode = response.statusCode ?? 0;
    const retryAfterMs = parseRetryAfterMs(
      new Headers({ 'retry-after': response.headers['retry-after'] ?? '' }),
      now(),
    );
    return { statusCode, error: errorOf(statusCode), retryAfterMs };
  } catch (error) {
    if (signal.aborted) throw error;
    return { statusCode: null, error: faultOf(error, limit), retryAfterMs: null };
  }
}

function errorOf(statusCode: number): DeliveryError | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return statusCode === 410 ? 'gone' : 'bad_status';
}

const ERROR_OF: { readonly [fault in OutgoingFault]: DeliveryError } = {
  refused_address: 'refused_address',
  refused_url: 'refused_url',
  timed_out: 'timed_out',
  tls_failed: 'tls_failed',
  unreachable: 'unreachable',
  // Of answers whose bodies are read, which these are not.
  unexpected_status: 'bad_status',
  too_large: 'bad_status',
};

function faultOf(error: unknown, limit: AbortSignal): DeliveryError {
  if (limit.aborted) return 'timed_out';
  return error instanceof OutgoingError ? ERROR_OF[error.fault] : 'unreachable';
}

interface Opened {
  /** The newest first. */
  readonly secrets: readonly Buffer[];
  readonly body: string;
}

/** Null where something cannot be opened: an operator took a key away too early. */
async function openSealed(
  cipher: Sending['cipher'],
  { deliveryId, secretId, sealed, previousSealed, body, sealedBody }: LockedDelivery,
): Promise<Opened | null> {
  try {
    const all = [sealed, ...(previousSealed === null ? [] : [previousSealed])];
    const secrets = await Promise.all(all.map((each) => cipher.open(each, secretContext(secretId))));
    if (sealedBody === null) return { secrets, body: body ?? '' };
    return { secrets, body: (await cipher.open(sealedBody, deliveryContext(deliveryId))).toString() };
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}

function headersOf(eventId: string, { secrets, body }: Opened, attempt: number, at: Date): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret, { format: 'raw' }).sign(eventId, at, body));
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Batchgate',
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
    'webhook-attempt': String(attempt),
  };
}
