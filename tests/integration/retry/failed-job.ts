import type { Database } from '../../../db/client.ts';
import { toUuid } from '../../../db/ids.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { FAILURE_CODES, type FailureClass, failureClassOf } from '../../../domain/failure.ts';
import type { ItemEndState } from '../../../domain/item-state.ts';
import type { ApiCaller } from '../../harness/api.ts';
import { endJob, type SettledTestItem, settleItems } from '../../harness/settled-items.ts';

/** How an item of a test ended: null for completed. */
export type End = FailureClass | null;

export function endedAs(itemNo: number, end: End): SettledTestItem {
  if (end === null) return { itemNo };
  const code = FAILURE_CODES.find((candidate) => failureClassOf(candidate) === end) ?? '';
  const state: ItemEndState = end === 'expired' || end === 'cancelled' ? end : 'failed';
  return { itemNo, state, body: null, amount: '0', failure: { class: end, code, message: 'It failed.' } };
}

/** Settles `row_1`, `row_2`, … of a submitted job as told, and ends it. */
export async function endAs(db: Database, jobId: string, ends: readonly End[]): Promise<void> {
  await settleItems(
    db,
    jobId,
    ends.map((end, index) => endedAs(index + 1, end)),
  );
  await endJob(db, jobId, ends.every((end) => end === null) ? 'completed' : 'completed_with_errors');
}

/** The id of an ended job whose items ended as told. */
export async function endedJob(
  db: Database,
  caller: ApiCaller,
  ends: readonly End[],
  options: Record<string, unknown> = {},
): Promise<string> {
  const jobId = await caller.submitted(ends.length, options);
  await endAs(db, jobId, ends);
  return jobId;
}

/** What a job's items are in the tables, in their order. */
export async function storedItems(db: Database, jobId: string) {
  const { key } = await getJobRow(db.pool, jobId);
  const { rows } = await db.pool.query(
    `SELECT i.item_no, i.custom_id, i.item_attempt, i.item_id::text, i.retry_of_item_id::text, i.retried_by_item_id::text, i.requested_model,
       r.body, encode(i.request_hash, 'hex') AS hash
     FROM batch_items i LEFT JOIN item_requests r USING (bucket, job_id, item_no) WHERE i.bucket = $1 AND i.job_id = $2 ORDER BY i.item_no`,
    [key.bucket, key.uuid],
  );
  return rows;
}

export async function eventsOf(db: Database, jobId: string, type: string) {
  const { rows } = await db.pool.query('SELECT data FROM events WHERE job_id = $1 AND type = $2 ORDER BY event_no', [
    toUuid('job', jobId),
    type,
  ]);
  return rows.map((row) => row.data);
}

/**
 * Has failed items tried once more inside their job, as a wave of it does; the new items follow the others. Answers their
 * numbers, in the order of the given ones.
 */
export async function addWave(db: Database, jobId: string, itemNos: readonly number[]): Promise<number[]> {
  const { key } = await getJobRow(db.pool, jobId);
  const { rows } = await db.pool.query<{ item_no: number }>(
    `WITH taken AS (
       UPDATE batch_items SET retried_by_item_id = uuidv7() WHERE bucket = $1 AND job_id = $2 AND item_no = ANY ($3) RETURNING *
     )
     INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, item_attempt, item_id, retry_of_item_id, retry_of_item_no, custom_id,
       request_hash, request_bytes, features, estimated_tokens, estimated_output_tokens)
     SELECT $1, $2, (SELECT max(item_no) FROM batch_items WHERE bucket = $1 AND job_id = $2) + array_position($3, item_no), manifest_no,
       item_attempt + 1, retried_by_item_id, item_id, item_no, custom_id, request_hash, request_bytes, features, estimated_tokens,
       estimated_output_tokens
     FROM taken RETURNING item_no`,
    [key.bucket, key.uuid, itemNos],
  );
  return rows.map((row) => row.item_no).sort((one, other) => one - other);
}
