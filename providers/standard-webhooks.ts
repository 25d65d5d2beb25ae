import { z } from 'zod';
import { refusal, type WebhookDelivery, type WebhookRefusal } from './webhook-verifier.ts';

/** How far a delivery's time may be from ours, in the past or the future (Standard Webhooks specification: five minutes). */
export const WEBHOOK_TOLERANCE_S = 300;

/** Becomes part of a row's key, so it is printable and bounded. */
const EVENT_ID = /^[!-~]{1,255}$/;
/** Whole seconds and nothing else: libraries that read a number's beginning would let two texts pass for one time. */
const TIMESTAMP_S = /^[0-9]{1,12}$/;
const EVENT_TYPE = /^[a-z0-9_.-]{1,100}$/i;
/** Ids are looked up and never called, yet a row cannot hold just any text. */
const BATCH_ID = /^[!-~]{1,512}$/;

/** A delivery that bears the headers of Standard Webhooks and is fresh. Nothing of it is verified. */
export interface SignedDelivery {
  readonly kind: 'signed';
  readonly id: string;
  readonly sentAt: Date;
  readonly signature: string;
  readonly text: string;
}

/**
 * The delivery's three headers and its text. Staleness is told before the signature is looked at: libraries do not say
 * which of the two they found wrong, and a stranger learns nothing from it.
 */
export function readSignedDelivery({ headers, body }: WebhookDelivery): SignedDelivery | WebhookRefusal {
  const id = headers.get('webhook-id') ?? '';
  const signature = headers.get('webhook-signature') ?? '';
  const sentAt = readTimestamp(headers);
  const text = readText(body);
  if (!EVENT_ID.test(id) || signature === '' || sentAt === null || text === null) return refusal('malformed');
  return isFresh(sentAt) ? { kind: 'signed', id, sentAt, signature, text } : refusal('stale');
}

/** `webhook-timestamp` as a time; null when it is absent or no whole number of seconds. */
export function readTimestamp(headers: Headers): Date | null {
  const text = headers.get('webhook-timestamp') ?? '';
  return TIMESTAMP_S.test(text) ? new Date(Number(text) * 1000) : null;
}

export function isFresh(sentAt: Date): boolean {
  return Math.abs(Date.now() - sentAt.getTime()) <= WEBHOOK_TOLERANCE_S * 1000;
}

const Envelope = z.object({
  type: z.string().regex(EVENT_TYPE),
  data: z
    .object({ id: z.string().regex(BATCH_ID).nullish().catch(null) })
    .nullish()
    .catch(null),
});

/** The `type` and, for events of batches, the `data.id` that OpenAI and Gemini both send; null for anything else. */
export function readEnvelope(value: unknown): { readonly type: string; readonly batchId: string | null } | null {
  const { success, data: envelope } = Envelope.safeParse(value);
  if (!success) return null;
  const isOfBatch = envelope.type.startsWith('batch.');
  return { type: envelope.type, batchId: isOfBatch ? (envelope.data?.id ?? null) : null };
}

/** The value of a JSON text; undefined when it is none. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** UTF-8 as it stands, a byte order mark included; null for other bytes, which nobody could have signed as text. */
export function readText(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}
