import type pg from 'pg';
import { findBucket } from '../domain/bucket.ts';
import { COPIED_ITEM_COLUMNS as COPIED, countCopies, countGroups } from './copied-items.ts';
import { toUuid } from './ids.ts';
import type { LockedDraft } from './intake-job.ts';
import { TERMS_COLUMNS } from './storage-terms.ts';

/** A job that is made of some items of a draft. */
export interface NewSample {
  readonly jobId: string;
  /** In rising order; all of the draft's current manifest. */
  readonly itemNos: readonly number[];
  readonly createdAt: Date;
}

/**
 * Makes a draft with the settings of another one, but for the time before which that sends nothing, and copies of some of its items, with their custom ids and hashes,
 * inside the database. The other draft's row must be locked. Answers the new job's uuid.
 */
export async function insertSample(client: pg.PoolClient, draft: LockedDraft, sample: NewSample): Promise<string> {
  const uuid = toUuid('job', sample.jobId);
  const bucket = findBucket(sample.jobId);
  if (uuid === null || bucket === null) throw new Error('a new job has a malformed id');
  await insertSampleJob(client, draft, { uuid, bucket, createdAt: sample.createdAt });
  await copyItems(client, draft, { uuid, bucket, itemNos: sample.itemNos });
  await countCopies(client, draft, { uuid, bucket });
  await countGroups(client, uuid);
  return uuid;
}

async function insertSampleJob(
  client: pg.PoolClient,
  draft: LockedDraft,
  { uuid, bucket, createdAt }: { readonly uuid: string; readonly bucket: number; readonly createdAt: Date },
): Promise<void> {
  await client.query(
    `INSERT INTO batch_jobs (job_id, bucket, tenant_id, project_id, customer_id, api_key_id, endpoint, requested_model,
       name, metadata, request_defaults, execution, max_cost, currency, created_at, retry_policy, deadline, sample_of, sample_of_items,
       ${TERMS_COLUMNS})
     SELECT $1, $2, tenant_id, project_id, customer_id, api_key_id, endpoint, requested_model,
       name, metadata, request_defaults, execution, max_cost, currency, $4, retry_policy, deadline, job_id, item_count,
       ${TERMS_COLUMNS}
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
