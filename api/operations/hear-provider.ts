import { findBatchShard } from '../../db/batch-shard.ts';
import { isEventKnown, recordEvent } from '../../db/provider-webhook-events.ts';
import type { WebhookEvent } from '../../providers/webhooks.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { SignalOutcome } from '../job-workflows.ts';

/**
 * - `signalled`: the batch's shard was told to ask its provider. `not_running`: it has no workflow now; the sweep will see to it.
 * - `unreachable`: Temporal could not be asked, and the event is as if it had never come.
 * - `no_batch`, `unknown_batch`, `batch_over`, `doubled`: nothing is to be done.
 */
export type HearingOutcome = SignalOutcome | 'no_batch' | 'unknown_batch' | 'batch_over' | 'doubled';

/**
 * Takes a verified event as a reason to ask the provider now, and as nothing else: what it says of the batch is not
 * believed, since events come late, doubled and out of order. The signal goes before the row: a process that dies in
 * between hears the event again and polls once more, which is harmless, while the other order would take the repetition
 * for a double and lose the event. Two deliveries at the very same time may both signal; the shard then wakes once.
 */
export async function hearProvider(
  { db, workflows, now }: Pick<ApiDependencies, 'db' | 'workflows' | 'now'>,
  event: WebhookEvent,
): Promise<HearingOutcome> {
  if (await isEventKnown(db.pool, event)) return 'doubled';
  const outcome = await wakeShard({ db, workflows }, event);
  if (outcome === 'unreachable') return outcome;
  const isFirst = await recordEvent(db.pool, event, now());
  return isFirst ? outcome : 'doubled';
}

async function wakeShard(
  { db, workflows }: Pick<ApiDependencies, 'db' | 'workflows'>,
  { provider, providerBatchId }: WebhookEvent,
): Promise<HearingOutcome> {
  if (providerBatchId === null) return 'no_batch';
  const batch = await findBatchShard(db.pool, provider, providerBatchId);
  if (batch === null) return 'unknown_batch';
  return batch.isOver ? 'batch_over' : workflows.pollShard(batch.jobId, batch.shard);
}
