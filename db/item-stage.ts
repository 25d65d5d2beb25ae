import type pg from 'pg';
import type { ItemGroup } from '../domain/admission-facts.ts';
import { copyRows, type SkippedRows } from './item-copy.ts';
import { ITEM_COLUMNS } from './item-rows.ts';
import type { SpooledItems } from './item-spool.ts';

/** Enough indexes to make a page cheap, few enough to hold. */
const PAGE_ROWS = 50_000;

/** The job whose items the staged ones are compared with. */
export interface StageTarget {
  readonly bucket: number;
  readonly uuid: string;
  readonly manifestNo: number;
}

/**
 * Puts the item rows of a spool into the temporary table `staged_items`, which ends with the transaction, so that
 * repeats are found set-wise. The slots hold what they were written with: `item_no` the position, `manifest_no` 1 for an
 * item without an output cap.
 */
export async function stageItems(client: pg.PoolClient, spool: SpooledItems): Promise<void> {
  await client.query(`
    CREATE TEMPORARY TABLE staged_items (
      item_index INTEGER GENERATED ALWAYS AS IDENTITY (MINVALUE 0 START WITH 0),
      item_no INTEGER, manifest_no INTEGER, bucket INTEGER, job_id UUID,
      custom_id TEXT COLLATE "C", idempotency_key TEXT COLLATE "C", request_hash BYTEA, request_bytes INTEGER,
      requested_model TEXT, features INTEGER, estimated_tokens INTEGER, estimated_output_tokens INTEGER, embedding_inputs INTEGER
    ) ON COMMIT DROP`);
  await copyRows(client, 'staged_items', ITEM_COLUMNS, spool.itemRows());
  await client.query('ANALYZE staged_items');
}

/** An item that cannot be taken: it repeats an id or a key of the same call, or of a stored item with other content. */
interface Clash {
  readonly itemIndex: number;
  readonly position: number;
  readonly customId: string;
  readonly field: 'custom_id' | 'idempotency_key';
  /** Of the earlier item in the same call; null when that is a stored one. */
  readonly firstIndex: number | null;
  readonly firstPosition: number | null;
}

export interface Clashes {
  /** The first of them, in order. */
  readonly rows: readonly Clash[];
  readonly count: number;
}

interface ClashRow {
  readonly item_index: number;
  readonly position: number;
  readonly custom_id: string;
  readonly field: Clash['field'];
  readonly first_index: number | null;
  readonly first_position: number | null;
  readonly total: number;
}

/** Items that repeat the custom id or the idempotency key of an earlier item of the same call, whatever their content. */
export async function findRepeatsWithin(client: pg.PoolClient, limit: number): Promise<Clashes> {
  const { rows } = await client.query<ClashRow>(
    `SELECT *, count(*) OVER ()::integer AS total FROM (
       SELECT item_index, item_no AS position, custom_id, 'custom_id' AS field,
         first_value(item_index) OVER same AS first_index, first_value(item_no) OVER same AS first_position
       FROM staged_items WINDOW same AS (PARTITION BY custom_id ORDER BY item_index)
       UNION ALL
       SELECT item_index, position, custom_id, 'idempotency_key', first_index, first_position FROM (
         SELECT item_index, item_no AS position, custom_id, first_value(custom_id) OVER same AS first_custom_id,
           first_value(item_index) OVER same AS first_index, first_value(item_no) OVER same AS first_position
         FROM staged_items
         WINDOW same AS (PARTITION BY coalesce(idempotency_key, custom_id) ORDER BY item_index)
       ) keyed WHERE custom_id <> first_custom_id
     ) repeated WHERE item_index > first_index ORDER BY item_index LIMIT $1`,
    [limit],
  );
  return toClashes(rows);
}

/**
 * Compares the staged items with the stored ones of the same manifest, into the temporary table `stored_matches`. An item
 * matches one with its custom id or its idempotency key, which is the custom id where none is given; `is_same` says that
 * id, key and content are all equal.
 *
 * Each look-up asks for the first row at or after a key of an index, in its order: that index alone can answer it. Plain
 * equality is planned by statistics in which a fresh job does not occur, and then reads all of the job for every item.
 */
export async function matchStoredItems(
  client: pg.PoolClient,
  { bucket, uuid, manifestNo }: StageTarget,
): Promise<void> {
  await client.query(
    `CREATE TEMPORARY TABLE stored_matches (
       item_index INTEGER, position INTEGER, custom_id TEXT COLLATE "C", field TEXT, is_same BOOLEAN
     ) ON COMMIT DROP`,
  );
  const byCustomId = (id: string) => `LATERAL (
    SELECT i.job_id, i.manifest_no, i.custom_id, i.idempotency_key, i.request_hash FROM batch_items i
    WHERE i.bucket = $1 AND (i.job_id, i.manifest_no, i.custom_id) >= ($2::uuid, $3::integer, ${id})
    ORDER BY i.job_id, i.manifest_no, i.custom_id LIMIT 1) i`;
  const byKey = (key: string) => `LATERAL (
    SELECT i.job_id, i.manifest_no, i.custom_id, i.idempotency_key FROM batch_items i
    WHERE i.bucket = $1 AND i.idempotency_key IS NOT NULL
      AND (i.job_id, i.manifest_no, i.idempotency_key) >= ($2::uuid, $3::integer, ${key})
    ORDER BY i.job_id, i.manifest_no, i.idempotency_key LIMIT 1) i`;
  const ofManifest = 'i.job_id = $2 AND i.manifest_no = $3';
  const keyOfStaged = 'coalesce(s.idempotency_key, s.custom_id)';
  await client.query(
    `INSERT INTO stored_matches
     SELECT s.item_index, s.item_no, s.custom_id, 'custom_id',
       i.idempotency_key IS NOT DISTINCT FROM s.idempotency_key AND i.request_hash = s.request_hash
     FROM staged_items s, ${byCustomId('s.custom_id')}
     WHERE ${ofManifest} AND i.custom_id = s.custom_id
     UNION ALL
     SELECT s.item_index, s.item_no, s.custom_id, 'idempotency_key', false
     FROM staged_items s, ${byKey(keyOfStaged)}
     WHERE ${ofManifest} AND i.idempotency_key = ${keyOfStaged} AND i.custom_id <> s.custom_id
     UNION ALL
     SELECT s.item_index, s.item_no, s.custom_id, 'idempotency_key', false
     FROM staged_items s, ${byCustomId('s.idempotency_key')}
     WHERE ${ofManifest} AND s.idempotency_key IS NOT NULL AND i.custom_id = s.idempotency_key AND i.idempotency_key IS NULL`,
    [bucket, uuid, manifestNo],
  );
}

/** Items that match a stored one but are not the same. One row an item. */
export async function findConflictsWithStored(client: pg.PoolClient, limit: number): Promise<Clashes> {
  const { rows } = await client.query<ClashRow>(
    `SELECT *, count(*) OVER ()::integer AS total FROM (
       SELECT DISTINCT ON (item_index) item_index, position, custom_id, field,
         NULL::integer AS first_index, NULL::integer AS first_position
       FROM stored_matches WHERE NOT is_same ORDER BY item_index, field
     ) conflicts ORDER BY item_index LIMIT $1`,
    [limit],
  );
  return toClashes(rows);
}

/** The items that are already stored with the same content. A bit for each item, whatever the size of the call. */
export async function findStoredTwins(
  client: pg.PoolClient,
  itemCount: number,
): Promise<SkippedRows & { readonly count: number }> {
  const bits = new Uint8Array(Math.ceil(itemCount / 8));
  let count = 0;
  for (let after = -1; ; ) {
    const { rows } = await client.query<{ item_index: number }>(
      `SELECT DISTINCT item_index FROM stored_matches WHERE is_same AND item_index > $1 ORDER BY item_index LIMIT ${PAGE_ROWS}`,
      [after],
    );
    for (const { item_index: index } of rows) {
      bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
      count += 1;
      after = index;
    }
    if (rows.length < PAGE_ROWS) break;
  }
  return { count, has: (index) => ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0 };
}

/** The groups of the staged items that are not stored yet. */
export async function groupNewItems(client: pg.PoolClient): Promise<ItemGroup[]> {
  const { rows } = await client.query<ItemGroup>(
    // The highest set bit of a positive count is floor(log2), exactly.
    `SELECT coalesce(requested_model, '') AS "requestedModel", features,
       length(ltrim(greatest(estimated_tokens, 1)::bit(32)::text, '0')) - 1 AS "tokenClass",
       count(*)::integer AS items, sum(request_bytes)::float8 AS bytes, max(request_bytes) AS "largestBytes",
       sum(estimated_tokens)::float8 AS "inputTokens", sum(estimated_output_tokens)::float8 AS "outputTokens",
       sum(manifest_no)::integer AS "uncappedItems"
     FROM staged_items s
     WHERE NOT EXISTS (SELECT 1 FROM stored_matches m WHERE m.item_index = s.item_index)
     GROUP BY 1, 2, 3`,
  );
  return rows;
}

function toClashes(rows: readonly ClashRow[]): Clashes {
  return {
    count: rows[0]?.total ?? 0,
    rows: rows.map((row) => ({
      itemIndex: row.item_index,
      position: row.position,
      customId: row.custom_id,
      field: row.field,
      firstIndex: row.first_index,
      firstPosition: row.first_position,
    })),
  };
}
