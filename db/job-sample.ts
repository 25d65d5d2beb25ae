import type pg from 'pg';
import { findBucket } from '../domain/bucket.ts';
import { toUuid } from './ids.ts';
import type { LockedDraft } from './intake-job.ts';
import { ITEM_COLUMNS } from './item-rows.ts';

/** A job that is made of some items of a draft. */
export interface NewSample {
  readonly jobId: string;
  /** In rising order; all of the draft's current manifest. */
  readonly itemNos: readonly number[];
  readonly createdAt: Date;
}

/** What an item brings along: all that was said or measured of its request, and nothing of an outcome. */
const COPIED = ITEM_COLUMNS.filter((column) => !['item_no', 'manifest_no', 'bucket', 'job_id'].includes(column));

/**
 * Makes a draft with the settings of another one and copies of some of its items, with their custom ids and hashes,
 * inside the database. The other draft's row must be locked. Answers the new job's uuid.
 */
export async function insertSample(client: pg.PoolClient, draft: LockedDraft, sample: NewSample): Promise<string> {
  const uuid = toUuid('job', sample.jobId);
  const bucket = findBucket(sample.jobId);
  if (uuid === null || bucket === null) throw new Error('a new job has a malformed id');
  await insertSampleJob(client, draft, { uuid, bucket, createdAt: sample.createdAt });
  await copyItems(client, draft, { uuid, bucket, itemNos: sample.itemNos });
  await countItems(client, draft, { uuid, bucket });
  return uuid;
}

async function insertSampleJob(
  client: pg.PoolClient,
  draft: LockedDraft,
  { uuid, bucket, createdAt }: { readonly uuid: string; readonly bucket: number; readonly createdAt: Date },
): Promise<void> {
  await client.query(
    `INSERT INTO batch_jobs (job_id, bucket, tenant_id, project_id, customer_id, api_key_id, endpoint, requested_model,
       name, metadata, request_defaults, execution, max_cost, currency, created_at, sample_of, sample_of_items)
     SELECT $1, $2, tenant_id, project_id, customer_id, api_key_id, endpoint, requested_model,
       name, metadata, request_defaults, execution, max_cost, currency, $4, job_id, item_count
     FROM batch_jobs WHERE job_id = $3`,
    [uuid, bucket, draft.uuid, createdAt],
  );
}

async function copyItems(
  client: pg.PoolClient,
  draft: LockedDraft,
  { uuid, bucket, itemNos }: { readonly uuid: string; readonly bucket: number; readonly itemNos: readonly number[] },
): Promise<void> {
  const parameters = [bucket, uuid, draft.bucket, draft.uuid, itemNos];
  const chosen = 'unnest($5::int[]) WITH ORDINALITY AS chosen (item_no, new_no)';
  await client.query(
    `INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, ${COPIED.join(', ')})
     SELECT $1, $2, chosen.new_no, 1, ${COPIED.map((column) => `i.${column}`).join(', ')}
     FROM ${chosen} JOIN batch_items i ON i.bucket = $3 AND i.job_id = $4 AND i.item_no = chosen.item_no`,
    parameters,
  );
  await client.query(
    `INSERT INTO item_requests (bucket, job_id, item_no, body)
     SELECT $1, $2, chosen.new_no, r.body
     FROM ${chosen} JOIN item_requests r ON r.bucket = $3 AND r.job_id = $4 AND r.item_no = chosen.item_no`,
    parameters,
  );
}

/**
 * Counts the copies by kind, and puts their number on the job. How many replies an uncapped item asks for is kept only as
 * a sum over its kind: the copies have their share of it, rounded up.
 */
async function countItems(
  client: pg.PoolClient,
  draft: LockedDraft,
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
    [uuid, bucket, draft.uuid, draft.manifestNo],
  );
  await client.query(
    `UPDATE batch_jobs SET (item_count, item_bytes) =
       (SELECT coalesce(sum(items), 0), coalesce(sum(bytes), 0) FROM job_item_groups WHERE job_id = $1)
     WHERE job_id = $1`,
    [uuid],
  );
}
