import type { OperatorJob } from '../../contracts/operator-job.ts';
import type { CapacityView } from '../../db/capacity-views.ts';
import type { OperatorActView } from '../../db/operator-acts.ts';
import type { ProviderBatchView, ShardView, UnmatchedLineView } from '../../db/operator-job.ts';
import { presentTime } from './time.ts';

type Shard = OperatorJob['shards'][number];

export function presentShard(view: ShardView, batches: readonly ProviderBatchView[]): Shard {
  const {
    waiting_reason: reason,
    waiting_since: since,
    next_poll_at,
    settled_at,
    given_up_at,
    reread_requested_at,
    ...shard
  } = view;
  return {
    ...shard,
    waiting: reason === null ? null : { reason, since: presentTime(since) },
    next_poll_at: presentTime(next_poll_at),
    settled_at: presentTime(settled_at),
    given_up_at: presentTime(given_up_at),
    reread_requested_at: presentTime(reread_requested_at),
    batches: batches.filter((batch) => batch.shard === shard.shard).map(presentBatch),
  };
}

function presentBatch({ shard: _, ...batch }: ProviderBatchView): Shard['batches'][number] {
  return {
    ...batch,
    create_started_at: presentTime(batch.create_started_at),
    create_deadline: presentTime(batch.create_deadline),
    accepted_at: presentTime(batch.accepted_at),
    expires_at: presentTime(batch.expires_at),
    ended_at: presentTime(batch.ended_at),
    last_polled_at: presentTime(batch.last_polled_at),
  };
}

export function presentCapacity(view: CapacityView): OperatorJob['capacity'][number] {
  const { known_limit_tokens, known_limit_items, batches, items, input_tokens, ...account } = view;
  return {
    ...account,
    full_since: presentTime(view.full_since),
    last_refused_at: presentTime(view.last_refused_at),
    next_try_at: presentTime(view.next_try_at),
    known_limit: { input_tokens: known_limit_tokens, items: known_limit_items },
    in_use: { batches, items, input_tokens },
  };
}

export function presentAct({ created_at, ...act }: OperatorActView): OperatorJob['acts'][number] {
  return { ...act, at: created_at.toISOString() };
}

export function presentUnmatchedLine({ raw, ...line }: UnmatchedLineView): OperatorJob['unmatched']['lines'][number] {
  return { ...line, raw_base64: raw.toString('base64') };
}
