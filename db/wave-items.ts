import type pg from 'pg';
import { itemStateCode, itemStateFromCode } from '../domain/item-state.ts';
import type { EndedKind } from '../domain/retry-policy.ts';
import type { EndedGroup } from '../domain/retry-wave.ts';
import { COPIED_ITEM_COLUMNS } from './copied-items.ts';
import type { JobRow } from './job-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** What a retry takes over of the item it repeats: all that was said or measured of its request, but the key it came under. */
const COPIED = ['manifest_no', ...COPIED_ITEM_COLUMNS.filter((column) => column !== 'idempotency_key')];

/** Which try of its job an item is: `item_attempt` may count tries in other jobs, too. */
function tryOf(waves: string): string {
  return `(width_bucket(i.item_no, ${waves}::int[]) + 1)`;
}

/**
 * Items that ended without an answer and that nothing follows, by kind and by how they ended. `waves` are the first item
 * numbers of the waves the job has had.
 */
export async function listEndedGroups(db: Queryable, job: JobRow, waves: readonly number[]): Promise<EndedGroup[]> {
  const { uuid, bucket } = job.key;
  const { rows } = await db.query<Omit<EndedGroup, 'state'> & { state: number }>(
    // The highest set bit of a positive count is floor(log2), exactly.
    `SELECT i.state, i.error_code AS code, ${tryOf('$5')} AS attempt, coalesce(i.requested_model, '') AS "requestedModel", i.features,
       length(ltrim(greatest(i.estimated_tokens, 1)::bit(32)::text, '0')) - 1 AS "tokenClass",
       count(*)::int AS items, sum(i.request_bytes)::float8 AS bytes, max(i.request_bytes) AS "largestBytes",
       sum(i.estimated_tokens)::float8 AS "inputTokens", sum(i.estimated_output_tokens)::float8 AS "outputTokens",
       count(*) FILTER (WHERE i.estimated_output_tokens = 0)::int AS "itemsWithoutCap"
     FROM batch_items_${bucket} i
     WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no >= $3 AND i.state > $4 AND i.retried_by_item_id IS NULL
     GROUP BY 1, 2, 3, 4, 5, 6`,
    [uuid, bucket, job.firstItemNo, itemStateCode('completed'), waves],
  );
  return rows.flatMap((row) => {
    const state = itemStateFromCode(row.state);
    return state === 'failed' || state === 'expired' || state === 'cancelled' ? [{ ...row, state }] : [];
  });
}

/**
 * Makes the next try of every item of these kinds that nothing follows yet, with its request, numbered from `firstItemNo` on in the
 * order of the items they repeat. Each is linked to the one before, and that one to it, for good. The job's row must be
 * locked. Answers how many it made.
 */
export async function insertRetries(
  client: pg.PoolClient,
  job: JobRow,
  {
    kinds,
    waves,
    firstItemNo,
  }: { readonly kinds: readonly EndedKind[]; readonly waves: readonly number[]; readonly firstItemNo: number },
): Promise<number> {
  const { uuid, bucket } = job.key;
  const { rows } = await client.query<{ items: number }>(
    `WITH taken AS (
       UPDATE batch_items_${bucket} i SET retried_by_item_id = uuidv7()
       FROM unnest($4::smallint[], $5::text[], $6::int[]) AS kind (state, code, attempt)
       WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no >= $3 AND i.retried_by_item_id IS NULL
         AND i.state = kind.state AND i.error_code = kind.code AND ${tryOf('$8')} = kind.attempt
       RETURNING i.item_no, i.item_id, i.item_attempt, i.retried_by_item_id, ${COPIED.map((column) => `i.${column}`).join(', ')}
     ),
     made AS (
       INSERT INTO batch_items_${bucket} (bucket, job_id, item_no, item_attempt, item_id, retry_of_item_id, retry_of_item_no, ${COPIED.join(', ')})
       SELECT $2, $1, $7::int - 1 + row_number() OVER (ORDER BY item_no), item_attempt + 1, retried_by_item_id, item_id, item_no, ${COPIED.join(', ')}
       FROM taken
       RETURNING item_no, retry_of_item_no
     ),
     bodies AS (
       INSERT INTO item_requests_${bucket} (bucket, job_id, item_no, body)
       SELECT $2, $1, made.item_no, r.body
       FROM made JOIN item_requests_${bucket} r ON r.job_id = $1 AND r.bucket = $2 AND r.item_no = made.retry_of_item_no
     )
     SELECT count(*)::int AS items FROM made`,
    [
      uuid,
      bucket,
      job.firstItemNo,
      kinds.map(({ state }) => itemStateCode(state)),
      kinds.map(({ code }) => code),
      kinds.map(({ attempt }) => attempt),
      firstItemNo,
      waves,
    ],
  );
  return rows[0]?.items ?? 0;
}
