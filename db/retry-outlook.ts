import type pg from 'pg';
import { FAILURE_CLASSES, type FailureClass } from '../domain/failure.ts';
import type { LeftOver, NamedItem } from '../domain/manual-retry.ts';
import { fromUuid } from './ids.ts';
import { FAILURE_CLASS, IS_UNCOLLECTED } from './manual-retry.ts';
import type { RetrySource } from './retry-source.ts';

/** Enough for a message. */
const MAX_CLAIMING_JOBS = 5;

interface NamedRow {
  readonly custom_id: string;
  readonly exists: boolean;
  readonly failure_class: FailureClass | '' | null;
  readonly is_claimed: boolean;
  readonly is_uncollected: boolean;
}

/** The last attempts of the items with these custom ids, in the order of the ids. */
export async function findNamedItems(
  client: pg.PoolClient,
  source: RetrySource,
  customIds: readonly string[],
): Promise<NamedItem[]> {
  const { rows } = await client.query<NamedRow>(
    `SELECT named.custom_id, i.item_no IS NOT NULL AS exists, CASE WHEN i.item_no IS NOT NULL THEN ${FAILURE_CLASS} END AS failure_class,
       i.retried_by_item_id IS NOT NULL AS is_claimed, i.item_no IS NOT NULL AND ${IS_UNCOLLECTED} AS is_uncollected
     FROM unnest($4::text[]) WITH ORDINALITY AS named (custom_id, position)
     LEFT JOIN LATERAL (
       SELECT * FROM batch_items WHERE bucket = $1 AND job_id = $2 AND manifest_no = $3 AND custom_id = named.custom_id
       ORDER BY item_attempt DESC LIMIT 1
     ) i ON true
     LEFT JOIN LATERAL (
       SELECT * FROM item_outcomes WHERE bucket = $1 AND job_id = $2 AND item_no = i.item_no LIMIT 1
     ) o ON true
     ORDER BY named.position`,
    [source.bucket, source.uuid, source.manifestNo, customIds],
  );
  return rows.map((row) => ({
    customId: row.custom_id,
    exists: row.exists,
    failureClass: row.failure_class === '' ? null : row.failure_class,
    isClaimed: row.is_claimed,
    isUncollected: row.is_uncollected,
  }));
}

/** What stands in the way of a retry that took nothing, of the named items or of any. */
export async function findLeftOver(
  client: pg.PoolClient,
  source: RetrySource,
  customIds: readonly string[] | null,
): Promise<LeftOver> {
  const { rows: jobs } = await client.query<{ job_id: string }>(
    `SELECT j.job_id FROM batch_jobs j
     WHERE j.retry_of = $1 AND EXISTS (
       SELECT 1 FROM batch_items i WHERE i.bucket = j.bucket AND i.job_id = j.job_id AND i.manifest_no = j.manifest_no
         AND ($2::text[] IS NULL OR i.custom_id = ANY ($2)))
     ORDER BY j.created_at DESC, j.job_id DESC LIMIT ${MAX_CLAIMING_JOBS}`,
    [source.uuid, customIds],
  );
  const { rows: classes } = await client.query<{ failure_class: FailureClass; is_uncollected: boolean }>(
    `SELECT DISTINCT ${FAILURE_CLASS} AS failure_class, ${IS_UNCOLLECTED} AS is_uncollected
     FROM batch_items i LEFT JOIN item_outcomes o ON o.bucket = $1 AND o.job_id = $2 AND o.item_no = i.item_no
     WHERE i.bucket = $1 AND i.job_id = $2 AND i.manifest_no = $3 AND i.retried_by_item_id IS NULL
       AND ${FAILURE_CLASS} <> '' AND ($4::text[] IS NULL OR i.custom_id = ANY ($4))`,
    [source.bucket, source.uuid, source.manifestNo, customIds],
  );
  const left = new Set(classes.map((row) => row.failure_class));
  return {
    claimingJobs: jobs.map((row) => fromUuid('job', row.job_id)),
    classes: FAILURE_CLASSES.filter((each) => left.has(each)),
    isUncollected: classes.some((row) => row.is_uncollected),
  };
}
