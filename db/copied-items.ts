import type pg from 'pg';
import { ITEM_COLUMNS } from './item-rows.ts';

/** What a copy of an item brings along: all that was said or measured of its request, and nothing of an outcome. */
export const COPIED_ITEM_COLUMNS = ITEM_COLUMNS.filter(
  (column) => !['item_no', 'manifest_no', 'bucket', 'job_id'].includes(column),
);

/**
 * Counts the items of a job that is made of copies by kind. How many replies an uncapped item asks for is kept only as a
 * sum over its kind: the copies have their share of that of the manifest they were copied from, rounded up.
 */
export async function countCopies(
  client: pg.PoolClient,
  source: { readonly uuid: string; readonly manifestNo: number },
  { uuid, bucket }: { readonly uuid: string; readonly bucket: number },
): Promise<void> {
  await client.query(
    `INSERT INTO job_item_groups (job_id, manifest_no, requested_model, features, token_class, items, bytes, largest_bytes,
       input_tokens, output_tokens, uncapped_items)
     SELECT $1, 1, s.requested_model, s.features, s.token_class, s.items, s.bytes, s.largest_bytes, s.input_tokens, s.output_tokens,
       CASE WHEN s.uncapped = 0 OR g.uncapped_items = 0 THEN 0
         ELSE greatest(s.uncapped, ceil(g.uncapped_items::numeric * s.items / g.items)) END
     FROM (
       SELECT coalesce(requested_model, '') AS requested_model, features,
         length(ltrim(greatest(estimated_tokens, 1)::bit(32)::text, '0')) - 1 AS token_class,
         count(*) AS items, sum(request_bytes) AS bytes, max(request_bytes) AS largest_bytes,
         sum(estimated_tokens) AS input_tokens, sum(estimated_output_tokens) AS output_tokens,
         count(*) FILTER (WHERE estimated_output_tokens = 0) AS uncapped
       FROM batch_items WHERE bucket = $2 AND job_id = $1
       GROUP BY 1, 2, 3
     ) s
     LEFT JOIN job_item_groups g ON g.job_id = $3 AND g.manifest_no = $4
       AND g.requested_model = s.requested_model AND g.features = s.features AND g.token_class = s.token_class`,
    [uuid, bucket, source.uuid, source.manifestNo],
  );
}

/** Puts the number and size of the items that its groups count on a job of one manifest. */
export async function countGroups(client: pg.PoolClient, uuid: string): Promise<void> {
  await client.query(
    `UPDATE batch_jobs SET (item_count, item_bytes) =
       (SELECT coalesce(sum(items), 0), coalesce(sum(bytes), 0) FROM job_item_groups WHERE job_id = $1)
     WHERE job_id = $1`,
    [uuid],
  );
}
