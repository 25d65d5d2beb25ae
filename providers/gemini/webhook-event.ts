import type { Provider } from '../../domain/provider.ts';
import { readEnvelope } from '../standard-webhooks.ts';
import { refusal, type WebhookEvent, type WebhookRefusal } from '../webhook-verifier.ts';

const BATCHES = 'batches/';

/** The event in an envelope of Gemini's: `{type, version, timestamp, data: {id, …}}` (Gemini API docs, Webhooks). */
export function readGeminiEvent(
  provider: Provider,
  envelope: unknown,
  proof: Pick<WebhookEvent, 'eventId' | 'sentAt'>,
): WebhookEvent | WebhookRefusal {
  const read = readEnvelope(envelope);
  if (read === null) return refusal('malformed');
  return { kind: 'event', provider, type: read.type, providerBatchId: nameOfBatch(read.batchId), ...proof };
}

/** A batch is known by its resource name; the docs' example of an event shows an id without the collection before it. */
function nameOfBatch(id: string | null): string | null {
  return id === null || id.startsWith(BATCHES) ? id : `${BATCHES}${id}`;
}
