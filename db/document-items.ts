import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { copyText } from './copy-text.ts';
import type { JobKey } from './job-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** The request of an item, made of its document. */
export interface BuiltItem {
  readonly itemNo: number;
  /** JSON text. */
  readonly body: string;
  /** SHA-256 of it, as hex. */
  readonly hash: string;
}

/** Writes requests, none of which may be there already, and what is known of them from now on. */
export async function copyRequests(
  client: pg.PoolClient,
  { uuid, bucket }: JobKey,
  items: readonly BuiltItem[],
): Promise<void> {
  const lines = items.map(({ itemNo, body }) => `${itemNo}\t${bucket}\t${uuid}\t${copyText(body)}\n`);
  const copy = client.query(copyFrom(`COPY item_requests_${bucket} (item_no, bucket, job_id, body) FROM STDIN`));
  await pipeline(Readable.from(lines.map((line) => Buffer.from(line))), copy);
  await client.query(
    `UPDATE batch_items i SET request_hash = decode(b.hash, 'hex'), request_bytes = b.bytes
     FROM unnest($3::int[], $4::text[], $5::int[]) AS b (item_no, hash, bytes)
     WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no = b.item_no`,
    [
      ...[uuid, bucket],
      items.map(({ itemNo }) => itemNo),
      items.map(({ hash }) => hash),
      items.map(({ body }) => Buffer.byteLength(body)),
    ],
  );
}

/** `hash` is the SHA-256 of the request that was sent, as hex. */
export async function setRequestHash(
  client: Queryable,
  { uuid, bucket }: JobKey,
  itemNo: number,
  hash: string,
): Promise<void> {
  await client.query(
    `UPDATE batch_items SET request_hash = decode($4, 'hex') WHERE job_id = $1 AND bucket = $2 AND item_no = $3`,
    [uuid, bucket, itemNo, hash],
  );
}

/** What was held for the replies to items, as which their requests are capped. */
export async function readOutputCaps(
  db: Queryable,
  { uuid, bucket }: JobKey,
  itemNos: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const { rows } = await db.query<{ item_no: number; cap: number }>(
    `SELECT item_no, estimated_output_tokens AS cap FROM batch_items
     WHERE job_id = $1 AND bucket = $2 AND item_no = ANY($3::int[])`,
    [uuid, bucket, itemNos],
  );
  return new Map(rows.map((row) => [row.item_no, row.cap]));
}
