import type pg from 'pg';
import type { JobKind } from '../domain/job-kind.ts';
import type { JobState } from '../domain/job-state.ts';
import type { PriceMode } from '../domain/pricing.ts';
import type { Endpoint } from '../domain/provider.ts';
import type { StorageTerms } from '../domain/storage-terms.ts';
import { RAW_OUTPUT } from './artifacts.ts';
import { jobIdOf, parseJobId } from './ids.ts';
import { type JobScope, scopeCondition } from './job-scope.ts';
import { type TermsRow, toStorageTerms } from './storage-terms.ts';
import { IS_CORRECTION } from './usage-corrections.ts';
import type { UsageWindow } from './usage-window.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Job rows change state in the transaction that settles their last items, whose clock is a little older than its commit. */
const COMPLETED_MARGIN = "interval '1 day'";

/** What every record of a job's usage says of the job: of its own row alone, so that it outlives its owners. */
export interface UsageJob {
  readonly kind: JobKind;
  readonly jobId: string;
  readonly uuid: string;
  readonly bucket: number;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly apiKeyId: string;
  readonly endpoint: Endpoint;
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly state: JobState;
  readonly currency: string;
  readonly priceMode: PriceMode;
  readonly priceBookVersion: string | null;
  /** The earliest day on which a provider forgets results. */
  readonly retrievalDeadline: Date | null;
  /** The latest end of the providers' windows. */
  readonly providerDeadline: Date | null;
  /** When the gateway deleted the content; null while it keeps it. */
  readonly contentDeletedAt: Date | null;
  readonly completedAt: Date | null;
  readonly requestBodyDeletedAt: Date | null;
  /** Whether all result files that came are in the artifact store; null where none came. */
  readonly rawOutput: boolean | null;
  readonly terms: StorageTerms;
  readonly itemCount: number;
  readonly lastSeq: number;
}

interface UsageJobRow extends TermsRow {
  readonly kind: JobKind;
  readonly job_id: string;
  readonly bucket: number;
  readonly tenant_id: string;
  readonly project_id: string | null;
  readonly customer_id: string | null;
  readonly api_key_id: string;
  readonly endpoint: Endpoint;
  readonly name: string | null;
  readonly metadata: Record<string, string>;
  readonly state: JobState;
  readonly currency: string;
  readonly price_mode: PriceMode;
  readonly price_book_version: string | null;
  readonly retrieval_deadline: Date | null;
  readonly expires_at: Date | null;
  readonly content_deleted_at: Date | null;
  readonly completed_at: Date | null;
  readonly request_body_deleted_at: Date | null;
  readonly raw_output: boolean | null;
  readonly item_count: number;
  readonly last_seq: number | null;
}

const SELECT_USAGE_JOB = `
  SELECT j.kind, j.job_id, j.bucket, j.tenant_id, j.project_id, j.customer_id, j.api_key_id, j.endpoint, j.name, j.metadata, j.state,
    j.currency, j.price_mode, j.price_book_version, j.retrieval_deadline, j.expires_at, j.content_deleted_at, j.completed_at, j.request_body_deleted_at,
    j.storage, j.read_window_ms, j.content_retention_ms, j.delete_provider_files, j.item_count, p.last_seq, ${RAW_OUTPUT} AS raw_output
  FROM batch_jobs j LEFT JOIN job_progress p ON p.job_id = j.job_id`;

/** Of any kind. Null for an unknown, malformed or foreign id. */
export async function findUsageJob(db: Queryable, scope: JobScope, jobId: string): Promise<UsageJob | null> {
  const named = parseJobId(jobId);
  if (named === null) return null;
  const condition = scopeCondition(scope, 'j', 3);
  const { rows } = await db.query<UsageJobRow>(
    `${SELECT_USAGE_JOB} WHERE j.job_id = $1 AND j.kind = $2 AND ${condition.sql}`,
    [named.uuid, named.kind, ...condition.values],
  );
  return rows[0] === undefined ? null : toUsageJob(rows[0]);
}

/** Submitted jobs that may have records in the window, in the order of their ids. */
export async function listUsageJobs(
  db: Queryable,
  scope: JobScope | null,
  window: UsageWindow,
  page: { readonly afterUuid: string | null; readonly limit: number },
): Promise<UsageJob[]> {
  const condition = scopeCondition(scope, 'j', 1);
  const { rows } = await db.query<UsageJobRow>(
    `${SELECT_USAGE_JOB}
     WHERE ${condition.sql} AND j.submitted_at IS NOT NULL AND ($4::uuid IS NULL OR j.job_id > $4)
       ${inWindow(window, scope, 6)}
     ORDER BY j.job_id LIMIT $5`,
    [...condition.values, page.afterUuid, page.limit, ...inWindowValues(window)],
  );
  return rows.map(toUsageJob);
}

/**
 * SQL that holds for jobs (as j) of the window's kind that may have a record in it: those that are open, that ended in it or later, or
 * that were corrected in it. Its parameters are from `$first` on, after the scope's three, which are the first.
 */
export function inWindow({ from, to, written, jobKind }: UsageWindow, scope: JobScope | null, first: number): string {
  const ofKind = jobKind === null ? '' : `AND j.kind = '${jobKind}'`;
  if (from === null && to === null && written === null) return ofKind;
  const [fromAt, toAt, sinceAt, fromXid, toXid] = [0, 1, 2, 3, 4].map((index) => `$${first + index}`);
  const tenant = scope === null ? 'true' : 'c.tenant_id = $1';
  const begun = `c.submitted_at IS NOT NULL AND (${toAt}::timestamptz IS NULL OR c.submitted_at < ${toAt})`;
  const ended = `c.completed_at >= coalesce(greatest(${fromAt}::timestamptz, ${sinceAt}::timestamptz), '-infinity') - ${COMPLETED_MARGIN}`;
  return `${ofKind} AND j.job_id IN (
    SELECT c.job_id FROM batch_jobs c WHERE ${tenant} AND ${begun} AND c.completed_at IS NULL
    UNION ALL SELECT c.job_id FROM batch_jobs c WHERE ${tenant} AND ${begun} AND ${ended}
    UNION ALL SELECT e.subject_id FROM ledger_entries e WHERE ${IS_CORRECTION}
      AND (${fromAt}::timestamptz IS NULL OR e.created_at >= ${fromAt}) AND (${toAt}::timestamptz IS NULL OR e.created_at < ${toAt})
      AND e.written_by >= coalesce(${fromXid}::xid8, '0'::xid8) AND e.written_by < coalesce(${toXid}::xid8, '18446744073709551615'::xid8)
  )`;
}

export function inWindowValues({ from, to, written }: UsageWindow): unknown[] {
  if (from === null && to === null && written === null) return [];
  return [from, to, written?.sinceAt ?? null, written?.fromXid ?? null, written?.toXid ?? null];
}

function toUsageJob(row: UsageJobRow): UsageJob {
  return {
    kind: row.kind,
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    uuid: row.job_id,
    bucket: row.bucket,
    tenantId: row.tenant_id,
    projectId: row.project_id,
    customerId: row.customer_id,
    apiKeyId: row.api_key_id,
    endpoint: row.endpoint,
    name: row.name,
    metadata: row.metadata,
    state: row.state,
    currency: row.currency,
    priceMode: row.price_mode,
    priceBookVersion: row.price_book_version,
    retrievalDeadline: row.retrieval_deadline,
    providerDeadline: row.expires_at,
    contentDeletedAt: row.content_deleted_at,
    completedAt: row.completed_at,
    requestBodyDeletedAt: row.request_body_deleted_at,
    rawOutput: row.raw_output,
    terms: toStorageTerms(row),
    itemCount: row.item_count,
    lastSeq: row.last_seq ?? 0,
  };
}
