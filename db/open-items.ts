import type pg from 'pg';
import { hasFeature } from '../domain/request-features.ts';
import type { JobKey } from './job-rows.ts';
import type { ShardRow } from './shards.ts';
import type { HeldReplies } from './stored-estimate.ts';

type Queryable = Pick<pg.Pool, 'query'>;

export interface OpenItem {
  readonly itemNo: number;
  /** The item's own request as JSON text, before the job's defaults. */
  readonly body: string;
}

/** Rows and bytes read at once: bodies may be megabytes each, so a page is cut by both. */
const PAGE_ITEMS = 2_000;
const PAGE_BYTES = 4_000_000;

/**
 * Items of the shard without an outcome, in order, a page at a time in short statements: memory does not grow with the
 * shard. Each statement reads one range by its key, so that no missing statistics can turn it into a slow join.
 */
export async function* readOpenItems(db: Queryable, job: JobKey, shard: ShardRow): AsyncGenerator<OpenItem[]> {
  let after = shard.firstItemNo - 1;
  for (;;) {
    const page = await readItemSizes(db, job, shard, after);
    const last = page.at(-1);
    if (last === undefined) return;
    const ended = await readEnded(db, job, after + 1, last.item_no);
    const open = page.filter(({ item_no }) => !ended.has(item_no));
    const taken = takeBytes(open, PAGE_BYTES);
    if (taken.length > 0) yield await readBodies(db, job, taken);
    after = taken.length < open.length ? (taken.at(-1) ?? last.item_no) : last.item_no;
  }
}

interface ItemSize {
  item_no: number;
  request_bytes: number;
}

async function readItemSizes(db: Queryable, job: JobKey, shard: ShardRow, after: number): Promise<ItemSize[]> {
  const { rows } = await db.query<ItemSize>(
    `SELECT item_no, request_bytes FROM batch_items
     WHERE job_id = $1 AND bucket = $2 AND item_no > $3 AND item_no <= $4 AND coalesce(requested_model, '') = $5
     ORDER BY item_no LIMIT ${PAGE_ITEMS}`,
    [job.uuid, job.bucket, after, shard.lastItemNo, shard.requestedModel],
  );
  return rows;
}

async function readEnded(db: Queryable, job: JobKey, first: number, last: number): Promise<ReadonlySet<number>> {
  const { rows } = await db.query<{ item_no: number }>(
    'SELECT item_no FROM item_outcomes WHERE job_id = $1 AND bucket = $2 AND item_no BETWEEN $3 AND $4',
    [job.uuid, job.bucket, first, last],
  );
  return new Set(rows.map(({ item_no }) => item_no));
}

/** The first items up to so many bytes, at least one. */
function takeBytes(items: readonly ItemSize[], maxBytes: number): number[] {
  let bytes = 0;
  const taken: number[] = [];
  for (const { item_no, request_bytes } of items) {
    bytes += request_bytes;
    if (taken.length > 0 && bytes > maxBytes) break;
    taken.push(item_no);
  }
  return taken;
}

async function readBodies(db: Queryable, job: JobKey, itemNos: readonly number[]): Promise<OpenItem[]> {
  const { rows } = await db.query<{ item_no: number; body: string }>(
    'SELECT item_no, body FROM item_requests WHERE job_id = $1 AND bucket = $2 AND item_no = ANY($3) ORDER BY item_no',
    [job.uuid, job.bucket, itemNos],
  );
  return rows.map((row) => ({ itemNo: row.item_no, body: row.body }));
}

/**
 * The item on a line (1-based) of an attempt's input file, which was made of the items without an outcome then, in
 * order. What this attempt itself has settled since changes nothing. Null past the end.
 */
export async function findItemOnLine(
  db: Queryable,
  job: JobKey,
  shard: ShardRow,
  { attempt, line }: { readonly attempt: number; readonly line: number },
): Promise<number | null> {
  const { rows } = await db.query<{ item_no: number }>(
    `SELECT i.item_no FROM batch_items i
     WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no BETWEEN $3 AND $4 AND coalesce(i.requested_model, '') = $5
       AND NOT EXISTS (
         SELECT 1 FROM item_outcomes o
         WHERE o.job_id = $1 AND o.bucket = $2 AND o.item_no = i.item_no AND (o.shard <> $6 OR o.attempt < $7)
       )
     ORDER BY i.item_no OFFSET $8 LIMIT 1`,
    [job.uuid, job.bucket, shard.firstItemNo, shard.lastItemNo, shard.requestedModel, shard.shard, attempt, line - 1],
  );
  return rows[0]?.item_no ?? null;
}

/**
 * What was held for items: for a reply without a cap what was held for one of its kind, so that usage that is missing is
 * never charged as none.
 */
export async function readEstimates(
  db: Queryable,
  job: JobKey,
  itemNos: readonly number[],
  uncapped: HeldReplies,
): Promise<ReadonlyMap<number, { inputTokens: number; outputTokens: number }>> {
  const { rows } = await db.query<{ item_no: number; input: number; output: number; features: number }>(
    `SELECT i.item_no, i.estimated_tokens AS input, i.estimated_output_tokens AS output, i.features
     FROM unnest($3::int[]) AS wanted (item_no)
     CROSS JOIN LATERAL (
       SELECT * FROM batch_items WHERE job_id = $1 AND bucket = $2 AND item_no = wanted.item_no LIMIT 1
     ) i`,
    [job.uuid, job.bucket, itemNos],
  );
  const withoutCap = (features: number) => (hasFeature(features, 'REASONING') ? uncapped.reasoning : uncapped.plain);
  return new Map(
    rows.map(({ item_no, input, output, features }) => [
      item_no,
      { inputTokens: input, outputTokens: output === 0 ? withoutCap(features) : output },
    ]),
  );
}
