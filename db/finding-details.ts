import type pg from 'pg';
import type { Finding, FindingRows } from '../domain/admission.ts';
import { type ErrorDetail, MAX_ERROR_DETAILS } from '../domain/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../domain/json-object.ts';
import { mergeRequestDefaults } from '../domain/merge-defaults.ts';
import { FEATURE, type Feature } from '../domain/request-features.ts';
import { findFeaturePlaces, inspectRequest } from '../domain/request-inspection.ts';
import type { JobRow } from './job-rows.ts';

type Queryable = Pick<pg.Pool, 'query'>;

interface FindingRow {
  readonly index: number;
  readonly customId: string;
  readonly body: string;
}

/** The first items a finding concerns, each with the exact places; the finding itself carries the full count. */
export async function listFindingDetails(db: Queryable, job: JobRow, finding: Finding): Promise<ErrorDetail[]> {
  if (finding.rows === null) return [];
  const found = await listFindingRows(db, job, finding.rows);
  return found.flatMap((row) => detailsOf(job, finding, row)).slice(0, MAX_ERROR_DETAILS);
}

function detailsOf(job: JobRow, { error, message, rows }: Finding, row: FindingRow): ErrorDetail[] {
  const { index, customId } = row;
  if (rows === null || !('feature' in rows)) {
    const field = rows !== null && 'requestedModel' in rows ? 'request.model' : 'request';
    return [{ index, customId, field, error, message }];
  }
  const request = readRequest(job, row);
  if (rows.feature === 'MALFORMED') {
    return inspectRequest(job.endpoint, request).problems.map((problem) => ({ index, customId, ...problem }));
  }
  return findPlaces(job, request, rows.feature).map((field) => ({ index, customId, field, error, message }));
}

function readRequest({ requestDefaults }: JobRow, { body }: FindingRow): unknown {
  const defaults: JsonObject = requestDefaults === null ? {} : JSON.parse(requestDefaults);
  return mergeRequestDefaults(defaults, JSON.parse(body));
}

function findPlaces({ endpoint }: JobRow, request: unknown, feature: Feature): readonly string[] {
  return isJsonObject(request) ? findFeaturePlaces(endpoint, request, feature) : ['request'];
}

async function listFindingRows(db: Queryable, job: JobRow, rows: NonNullable<FindingRows>): Promise<FindingRow[]> {
  const [condition, parameter] = conditionOf(rows);
  const models = 'requestedModel' in rows ? [rows.requestedModel] : rows.requestedModels;
  const found = await db.query(
    `SELECT i.item_no, i.custom_id, r.body FROM batch_items i
     JOIN item_requests r ON r.job_id = i.job_id AND r.bucket = i.bucket AND r.item_no = i.item_no
     WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no >= $3 AND i.item_no < $4
       AND coalesce(i.requested_model, '') = ANY ($5) AND ${condition}
     ORDER BY i.item_no LIMIT ${MAX_ERROR_DETAILS}`,
    [job.key.uuid, job.key.bucket, job.firstItemNo, job.firstItemNo + job.itemCount, models, parameter],
  );
  return found.rows.map((row) => ({ index: row.item_no - job.firstItemNo, customId: row.custom_id, body: row.body }));
}

/** On the parameter beside it. Items that name a model are told by that alone. */
function conditionOf(rows: NonNullable<FindingRows>): readonly [condition: string, parameter: number] {
  if ('feature' in rows) return ['(i.features & $6) <> 0', FEATURE[rows.feature]];
  return ['i.request_bytes >= $6', 'minBytes' in rows ? rows.minBytes : 0];
}
