import { z } from 'zod';
import type { JobUsageExport, JobUsageQuery } from '../../contracts/usage-record.ts';
import { findUsageJob, type UsageJob } from '../../db/usage-jobs.ts';
import { WHOLE_WINDOW } from '../../db/usage-window.ts';
import { isTerminal } from '../../domain/job-state.ts';
import type { Principal } from '../../domain/principal.ts';
import { CursorInteger, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { isCustomer } from './customer-view.ts';
import { type JobRequest, noSuchJob, tenantScope } from './owned-job.ts';
import { recordExport } from './record-export.ts';
import {
  entriesOfJob,
  type ItemEntry,
  type ItemPosition,
  itemEntries,
  sumEntries,
  type UsageEntry,
} from './usage-entries.ts';

const LIST = 'usage';

/** Of an item's position; the item number of no correction is -1. */
export const ITEM_POSITION = [CursorInteger, CursorInteger, z.string().max(64), CursorInteger] as const;

export interface UsageExportRequest extends JobRequest {
  readonly query: Pick<JobUsageQuery, 'level' | 'cursor' | 'limit'>;
}

type Dependencies = Pick<ApiDependencies, 'db'>;

/**
 * What the job has used so far: a record for each day and model, or a page of records, one for each settled item. The
 * cursor of an open job never ends, so a reader that follows it skips nothing; corrections come after the job's end.
 */
export async function exportUsagePage(
  { db }: Dependencies,
  { principal, jobId, query }: UsageExportRequest,
): Promise<JobUsageExport> {
  const after = fromCursor(decodeCursor(LIST, ITEM_POSITION, query.cursor));
  const job = await getUsageJob({ db }, principal, jobId);
  const reading = { window: WHOLE_WINDOW, isCustomer: isCustomer(principal) };
  if (query.level === 'job') {
    const entries = await sumEntries(db.pool, [job], reading);
    return { data: entries.map(({ record }) => record), next_cursor: null };
  }
  const hasEnded = isTerminal(job.state);
  const range = { after, pieceRows: query.limit, withCorrections: hasEnded };
  const entries = await take(itemEntries(db.pool, job, reading, range), query.limit);
  const isOver = hasEnded && entries.length < query.limit;
  return {
    data: entries.map(({ record }) => record),
    next_cursor: isOver ? null : encodeCursor(LIST, toCursor(entries.at(-1)?.position ?? after)),
  };
}

/** All records so far, read piece by piece as the reader asks for them. */
export async function openUsageStream(
  { db }: Dependencies,
  { principal, jobId, query }: UsageExportRequest,
): Promise<AsyncGenerator<readonly UsageEntry[]>> {
  const job = await getUsageJob({ db }, principal, jobId);
  await recordExport({ db }, principal, { jobId, of: query.level });
  return entriesOfJob(db.pool, job, query.level, { window: WHOLE_WINDOW, isCustomer: isCustomer(principal) });
}

async function getUsageJob({ db }: Dependencies, principal: Principal, jobId: string): Promise<UsageJob> {
  const job = await findUsageJob(db.pool, tenantScope(principal), jobId);
  if (job?.kind !== 'batch') throw noSuchJob();
  return job;
}

/** The first entries of pieces. */
export async function take(pieces: AsyncGenerator<readonly ItemEntry[]>, limit: number): Promise<ItemEntry[]> {
  const taken: ItemEntry[] = [];
  for await (const piece of pieces) {
    taken.push(...piece.slice(0, limit - taken.length));
    if (taken.length === limit) break;
  }
  return taken;
}

export function toCursor({ seq, correction }: ItemPosition): [number, number, string, number] {
  return [seq, correction?.itemNo ?? -1, correction?.event ?? '', correction?.ordinal ?? 0];
}

export function fromCursor(position: readonly [number, number, string, number] | null): ItemPosition {
  const [seq, itemNo, event, ordinal] = position ?? [0, -1, '', 0];
  return { seq, correction: itemNo < 0 ? null : { itemNo, event, ordinal } };
}
