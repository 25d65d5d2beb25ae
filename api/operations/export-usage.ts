import type { ItemUsageRecord, JobUsage, JobUsageExport, JobUsageQuery } from '../../contracts/usage-record.ts';
import { listItemUsage } from '../../db/item-usage.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { sumUsageOfJobs } from '../../db/usage.ts';
import { isTerminal } from '../../domain/job-state.ts';
import { CursorInteger, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentItemUsage, presentJobUsage } from '../presentation/usage.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';

const LIST = 'usage';
const STREAM_ROWS = 1_000;
const WHOLE = { from: null, to: null, written: null };

export interface UsageExportRequest extends JobRequest {
  readonly query: Pick<JobUsageQuery, 'level' | 'cursor' | 'limit'>;
}

type Dependencies = Pick<ApiDependencies, 'db'>;
export type UsageRecord = JobUsage | ItemUsageRecord;

/** What the job has used so far: a record for each model, or a page of records, one for each settled item. */
export async function exportUsagePage(
  dependencies: Dependencies,
  { query, ...request }: UsageExportRequest,
): Promise<JobUsageExport> {
  const [afterSeq = 0] = decodeCursor(LIST, [CursorInteger] as const, query.cursor) ?? [];
  const job = await getOwnedJob(dependencies, request);
  const { db } = dependencies;
  if (query.level === 'job') return { data: await jobRecords(dependencies, job), next_cursor: null };
  const items = await listItemUsage(db.pool, job, { afterSeq, limit: query.limit });
  const endSeq = items.at(-1)?.seq ?? afterSeq;
  const isOver = isTerminal(job.state) && endSeq >= job.lastSeq;
  return {
    data: items.map((item) => presentItemUsage(job, item)),
    next_cursor: isOver ? null : encodeCursor(LIST, [endSeq]),
  };
}

/** All records so far, read piece by piece as the reader asks for them. */
export async function openUsageStream(
  dependencies: Dependencies,
  { query, ...request }: UsageExportRequest,
): Promise<AsyncGenerator<readonly UsageRecord[]>> {
  const job = await getOwnedJob(dependencies, request);
  return query.level === 'job' ? jobPieces(dependencies, job) : itemPieces(dependencies, job);
}

async function* jobPieces(dependencies: Dependencies, job: JobRecord): AsyncGenerator<readonly UsageRecord[]> {
  yield await jobRecords(dependencies, job);
}

async function* itemPieces({ db }: Dependencies, job: JobRecord): AsyncGenerator<readonly UsageRecord[]> {
  for (let afterSeq = 0; ; ) {
    const items = await listItemUsage(db.pool, job, { afterSeq, limit: STREAM_ROWS });
    if (items.length > 0) yield items.map((item) => presentItemUsage(job, item));
    const last = items.at(-1);
    if (last === undefined || items.length < STREAM_ROWS) return;
    afterSeq = last.seq;
  }
}

async function jobRecords({ db }: Dependencies, job: JobRecord): Promise<JobUsage[]> {
  const records = await sumUsageOfJobs(db.pool, [job.uuid], WHOLE);
  return records.map(presentJobUsage);
}
