import type pg from 'pg';
import type { JobKey } from './job-rows.ts';
import type { ShardRow } from './shards.ts';

type Queryable = Pick<pg.Pool, 'query'>;

export interface OpenItem {
  readonly itemNo: number;
  /** The item's own request as JSON text, before the job's defaults. */
  readonly body: string;
}

/** Rows and bytes read at once: bodies may be megabytes each, so a page is cut by both. */
const PAGE_ITEMS = 2_000;
const PAGE_BYTES = 4_000_000;

/** Items of the shard without an outcome, in order, a page at a time in short transactions: memory does not grow with the shard. */
export async function* readOpenItems(db: Queryable, job: JobKey, shard: ShardRow): AsyncGenerator<OpenItem[]> {
  let after = shard.firstItemNo - 1;
  for (;;) {
    const { rows } = await db.query<{ item_no: number; body: string }>(
      `SELECT page.item_no, r.body
       FROM (
         SELECT i.item_no, i.request_bytes, sum(i.request_bytes::bigint) OVER (ORDER BY i.item_no) AS running
         FROM batch_items i
         WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no > $3 AND i.item_no <= $4 AND coalesce(i.requested_model, '') = $5
           AND NOT EXISTS (SELECT 1 FROM item_outcomes o WHERE o.job_id = $1 AND o.bucket = $2 AND o.item_no = i.item_no)
         ORDER BY i.item_no LIMIT ${PAGE_ITEMS}
       ) page
       JOIN item_requests r ON r.job_id = $1 AND r.bucket = $2 AND r.item_no = page.item_no
       WHERE page.running - page.request_bytes < ${PAGE_BYTES}
       ORDER BY page.item_no`,
      [job.uuid, job.bucket, after, shard.lastItemNo, shard.requestedModel],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map((row) => ({ itemNo: row.item_no, body: row.body }));
    after = last.item_no;
  }
}

/** The item on a line (1-based) of an input file that was made of the open items in order. Null past the end. */
export async function findOpenItemOnLine(
  db: Queryable,
  job: JobKey,
  shard: ShardRow,
  line: number,
): Promise<number | null> {
  const { rows } = await db.query<{ item_no: number }>(
    `SELECT i.item_no FROM batch_items i
     WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no BETWEEN $3 AND $4 AND coalesce(i.requested_model, '') = $5
       AND NOT EXISTS (SELECT 1 FROM item_outcomes o WHERE o.job_id = $1 AND o.bucket = $2 AND o.item_no = i.item_no)
     ORDER BY i.item_no OFFSET $6 LIMIT 1`,
    [job.uuid, job.bucket, shard.firstItemNo, shard.lastItemNo, shard.requestedModel, line - 1],
  );
  return rows[0]?.item_no ?? null;
}

/** What was estimated for some items, for those whose usage the provider left out. */
export async function readEstimates(
  db: Queryable,
  job: JobKey,
  itemNos: readonly number[],
): Promise<ReadonlyMap<number, { inputTokens: number; outputTokens: number }>> {
  const { rows } = await db.query<{ item_no: number; input: number; output: number }>(
    `SELECT item_no, estimated_tokens AS input, estimated_output_tokens AS output FROM batch_items
     WHERE job_id = $1 AND bucket = $2 AND item_no = ANY($3)`,
    [job.uuid, job.bucket, itemNos],
  );
  return new Map(rows.map((row) => [row.item_no, { inputTokens: row.input, outputTokens: row.output }]));
}
