import type pg from 'pg';
import { findBucket } from '../domain/bucket.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Endpoint } from '../domain/provider.ts';
import type { StorageTerms } from '../domain/storage-terms.ts';
import { COPIED_ITEM_COLUMNS as COPIED, countCopies, countGroups } from './copied-items.ts';
import { toUuid } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';
import { TERMS_COLUMNS, type TermsRow, toStorageTerms } from './storage-terms.ts';

/** A job whose items may be copied. */
export interface CopySource {
  readonly uuid: string;
  readonly bucket: number;
  readonly endpoint: Endpoint;
  /** JSON text. */
  readonly requestDefaults: string | null;
  readonly manifestNo: number;
  readonly firstItemNo: number;
  readonly itemCount: number;
  /** Its requests are kept no more. */
  readonly isContentGone: boolean;
  readonly terms: StorageTerms;
}

/** Null for an unknown, malformed or foreign id alike. */
export async function findCopySource(
  db: Pick<pg.ClientBase, 'query'>,
  scope: JobScope,
  jobId: string,
): Promise<CopySource | null> {
  const uuid = toUuid('job', jobId);
  if (uuid === null) return null;
  const condition = scopeCondition(scope, 'j', 2);
  const { rows } = await db.query<Omit<CopySource, 'uuid' | 'terms'> & TermsRow>(
    `SELECT bucket, endpoint, request_defaults AS "requestDefaults", manifest_no AS "manifestNo", first_item_no AS "firstItemNo",
       item_count AS "itemCount", ${TERMS_COLUMNS}, content_deleted_at IS NOT NULL OR request_body_deleted_at IS NOT NULL
         OR (storage IN ('pointers', 'hashes') AND completed_at IS NOT NULL) AS "isContentGone"
     FROM batch_jobs j WHERE j.job_id = $1 AND j.kind = 'batch' AND ${condition.sql}`,
    [uuid, ...condition.values],
  );
  return rows[0] === undefined ? null : { ...rows[0], uuid, terms: toStorageTerms(rows[0]) };
}

/** Throws GatewayError where there is nothing to copy into a job made by such a body of create_job. */
export function requireCopySource(
  source: CopySource | null,
  { job }: { readonly job: Readonly<Record<string, unknown>> },
): CopySource {
  const field = 'items.manifest_of_job';
  if (source === null) throw new GatewayError('not_found', 'There is no such job to copy items from.', { field });
  if (source.isContentGone)
    throw new GatewayError('content_deleted', 'The items of that job were deleted. Name another.', { field });
  if (source.itemCount === 0) throw new GatewayError('empty_job', 'That job has no items to copy.', { field });
  const defaults = job['request_defaults'];
  const isSame =
    source.endpoint === job['endpoint'] &&
    (defaults === undefined || source.requestDefaults === JSON.stringify(defaults));
  if (isSame) return source;
  throw new GatewayError(
    'conflict',
    'Items can be copied only for the same endpoint and request_defaults. Leave the defaults out to take that job’s.',
    { field },
  );
}

/**
 * Copies all items of a job's manifest, with their ids and hashes, into a draft without any, inside the database. The
 * draft's row must be locked.
 */
export async function copyManifest(client: pg.PoolClient, source: CopySource, jobId: string): Promise<void> {
  const uuid = toUuid('job', jobId);
  const bucket = findBucket(jobId);
  if (uuid === null || bucket === null) throw new Error('a new job has a malformed id');
  const { firstItemNo, itemCount } = source;
  const parameters = [bucket, uuid, source.bucket, source.uuid, firstItemNo, firstItemNo + itemCount];
  await client.query(
    `INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, ${COPIED.join(', ')})
     SELECT $1, $2, i.item_no - $5::int + 1, 1, ${COPIED.map((column) => `i.${column}`).join(', ')}
     FROM batch_items i WHERE i.bucket = $3 AND i.job_id = $4 AND i.item_no >= $5 AND i.item_no < $6`,
    parameters,
  );
  await client.query(
    `INSERT INTO item_requests (bucket, job_id, item_no, body)
     SELECT $1, $2, r.item_no - $5::int + 1, r.body
     FROM item_requests r WHERE r.bucket = $3 AND r.job_id = $4 AND r.item_no >= $5 AND r.item_no < $6`,
    parameters,
  );
  await countCopies(client, source, { uuid, bucket });
  await countGroups(client, uuid);
}
