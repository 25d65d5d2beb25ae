import { newId } from '../state.ts';
import type { WebhookSender } from '../webhook-sender.ts';
import type { BatchRecord } from './records.ts';

/** Announces the end of a batch with a thin event: fetch the batch for anything else (openai SDK types). */
export function announceEnd(sender: WebhookSender, batch: BatchRecord, nowMs: number): void {
  const event = {
    id: newId('evt_'),
    object: 'event',
    created_at: Math.floor(nowMs / 1000),
    type: `batch.${batch.status}`,
    data: { id: batch.id },
  };
  sender.send({
    id: newId('wh_'),
    body: JSON.stringify(event),
    facts: { type: event.type, batch_id: batch.id, metadata: batch.metadata },
  });
}
