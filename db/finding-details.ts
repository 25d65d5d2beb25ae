import type pg from 'pg';
import type { Finding } from '../domain/admission.ts';
import { type ErrorDetail, MAX_ERROR_DETAILS } from '../domain/gateway-error.ts';
import { mergeRequestDefaults } from '../domain/merge-defaults.ts';
import { FEATURE, featureField } from '../domain/request-features.ts';
import { inspectRequest } from '../domain/request-inspection.ts';
import type { JobRow } from './job-rows.ts';

type Queryable = Pick<pg.Pool, 'query'>;

interface FindingRow {
  readonly index: number;
  readonly customId: string;
  readonly body: string;
}

/** The first items a finding concerns, each with the exact place; the finding itself carries the full count. */
export async function listFindingDetails(db: Queryable, job: JobRow, finding: Finding): Promise<ErrorDetail[]> {
  const rows = await listFindingRows(db, job, finding);
  return rows.flatMap((row) => detailsOf(job, finding, row)).slice(0, MAX_ERROR_DETAILS);
}

function detailsOf(job: JobRow, finding: Finding, row: FindingRow): ErrorDetail[] {
  const { index, customId } = row;
  if (finding.rows !== null && 'feature' in finding.rows) {
    if (finding.rows.feature === 'MALFORMED') {
      const defaults = job.requestDefaults === null ? {} : JSON.parse(job.requestDefaults);
      const request = mergeRequestDefaults(defaults, JSON.parse(row.body));
      return inspectRequest(job.endpoint, request).problems.map((problem) => ({ index, customId, ...problem }));
    }
    const field = featureField(job.endpoint, finding.rows.feature);
    return [{ index, customId, field, error: finding.error, message: finding.message }];
  }
  return [
    { index, customId, field: finding.field.replace('items[*].', ''), error: finding.error, message: finding.message },
  ];
}

async function listFindingRows(db: Queryable, job: JobRow, finding: Finding): Promise<FindingRow[]> {
  if (finding.rows === null) return [];
  const [condition, parameter] =
    'feature' in finding.rows
      ? ['(i.features & $5) <> 0', FEATURE[finding.rows.feature]]
      : 'requestedModel' in finding.rows
        ? ['i.requested_model = $5', finding.rows.requestedModel]
        : ['i.request_bytes >= $5', finding.rows.minBytes];
  const { rows } = await db.query(
    `SELECT i.item_no, i.custom_id, r.body FROM batch_items i
     JOIN item_requests r ON r.job_id = i.job_id AND r.bucket = i.bucket AND r.item_no = i.item_no
     WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no >= $3 AND i.item_no < $4 AND ${condition}
     ORDER BY i.item_no LIMIT ${MAX_ERROR_DETAILS}`,
    [job.key.uuid, job.key.bucket, job.firstItemNo, job.firstItemNo + job.itemCount, parameter],
  );
  return rows.map((row) => ({ index: row.item_no - job.firstItemNo, customId: row.custom_id, body: row.body }));
}
