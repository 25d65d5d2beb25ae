import type pg from 'pg';
import { remainderOutcome } from '../domain/close-reason.ts';
import type { Failure, FailureClass } from '../domain/failure.ts';
import { type ItemState, itemStateFromCode, itemStateInShard } from '../domain/item-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import type { ShardState } from '../domain/shard-state.ts';
import { fromUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';
import type { JobRecord } from './job-view.ts';
import type { ItemRecord } from './result-rows.ts';
import { findRetryFamily } from './retry-family.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** One attempt at an item, by public ids. */
export interface ChainedItem {
  readonly jobId: string;
  readonly itemId: string;
  readonly customId: string;
  /** Over all jobs: 1, and one more with each retry. */
  readonly attempt: number;
  readonly status: ItemState;
  readonly failure: { readonly class: FailureClass; readonly code: string } | null;
  /** Empty where none answered. */
  readonly model: string;
  /** Both null until it has settled; the customer's in the prices of the job's customer. */
  readonly amount: Amount | null;
  readonly customerAmount: Amount | null;
  readonly settledAt: Date | null;
}

interface ChainRow {
  readonly job_id: string;
  readonly item_id: string;
  readonly custom_id: string;
  readonly item_attempt: number;
  readonly retry_of_item_id: string | null;
  readonly retried_by_item_id: string | null;
  readonly item_state: number;
  readonly shard_state: ShardState | null;
  readonly state: number | null;
  readonly failure_class: FailureClass | '' | null;
  readonly error_code: string | null;
  readonly model: string | null;
  readonly amount: string | null;
  readonly customer_amount: string | null;
  readonly settled_at: Date | null;
  /** When its job was cancelled before it was accepted; then nothing of it has an outcome of its own. */
  readonly never_run_at: Date | null;
}

/** An item with all it repeats and all that repeat it, oldest first, over those jobs of its family that the scope may see. */
export async function listRetryChain(
  db: Queryable,
  scope: JobScope,
  job: Pick<JobRecord, 'uuid'>,
  item: Pick<ItemRecord, 'itemId' | 'customId'>,
): Promise<ChainedItem[]> {
  const { jobs } = await findRetryFamily(db, job.uuid);
  const condition = scopeCondition(scope, 'j', 3);
  const { rows } = await db.query<ChainRow>(
    `SELECT i.job_id, i.item_id, i.custom_id, i.item_attempt, i.retry_of_item_id, i.retried_by_item_id, i.state AS item_state, s.state AS shard_state,
       o.state, o.failure_class, o.error_code, o.model, o.amount, coalesce(o.customer_amount, o.amount) AS customer_amount, o.settled_at,
       CASE WHEN j.state = 'cancelled' AND j.admitted_at IS NULL THEN j.completed_at END AS never_run_at
     FROM batch_jobs j
     JOIN batch_items i ON i.bucket = j.bucket AND i.job_id = j.job_id AND i.manifest_no = j.manifest_no AND i.custom_id = $2
     LEFT JOIN item_outcomes o ON o.bucket = i.bucket AND o.job_id = i.job_id AND o.item_no = i.item_no
     LEFT JOIN LATERAL (
       SELECT state FROM batch_shards
       WHERE job_id = i.job_id AND i.item_no BETWEEN first_item_no AND last_item_no AND state <> 'superseded'
         AND requested_model = coalesce(i.requested_model, '')
       ORDER BY shard DESC LIMIT 1
     ) s ON true
     WHERE j.job_id = ANY ($1) AND ${condition.sql}`,
    [jobs, item.customId, ...condition.values],
  );
  return chainOf(rows, item.itemId).map(toChainedItem);
}

/** The rows that lead to an item and on from it. */
function chainOf(rows: readonly ChainRow[], itemId: string): ChainRow[] {
  const byId = new Map(rows.map((row) => [row.item_id, row]));
  const start = rows.find((row) => fromUuid('item', row.item_id) === itemId);
  if (start === undefined) return [];
  const chain = [start];
  for (let row = before(start, byId); row !== undefined; row = before(row, byId)) chain.unshift(row);
  for (let row = after(start, byId); row !== undefined; row = after(row, byId)) chain.push(row);
  return chain;
}

function before(row: ChainRow, byId: ReadonlyMap<string, ChainRow>): ChainRow | undefined {
  return row.retry_of_item_id === null ? undefined : byId.get(row.retry_of_item_id);
}

function after(row: ChainRow, byId: ReadonlyMap<string, ChainRow>): ChainRow | undefined {
  return row.retried_by_item_id === null ? undefined : byId.get(row.retried_by_item_id);
}

const NEVER_RUN = remainderOutcome('cancelled');

function toChainedItem(row: ChainRow): ChainedItem {
  const identity = {
    jobId: fromUuid('job', row.job_id),
    itemId: fromUuid('item', row.item_id),
    customId: row.custom_id,
    attempt: row.item_attempt,
    model: row.model ?? '',
  };
  if (row.never_run_at !== null) {
    const { state: status, failure } = NEVER_RUN;
    return {
      ...identity,
      status,
      failure: shortly(failure),
      amount: 0n,
      customerAmount: 0n,
      settledAt: row.never_run_at,
    };
  }
  const { failure_class: failureClass, error_code: code } = row;
  return {
    ...identity,
    status:
      row.state === null
        ? itemStateInShard(itemStateFromCode(row.item_state), row.shard_state)
        : itemStateFromCode(row.state),
    failure: failureClass === null || failureClass === '' ? null : { class: failureClass, code: code ?? '' },
    amount: row.amount === null ? null : parseNumeric(row.amount),
    customerAmount: row.customer_amount === null ? null : parseNumeric(row.customer_amount),
    settledAt: row.settled_at,
  };
}

function shortly({ class: failureClass, code }: Failure): ChainedItem['failure'] {
  return { class: failureClass, code };
}
