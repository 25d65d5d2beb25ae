import { z } from 'zod';
import type { UsageGroupSum, UsageQuery, UsageReport } from '../../contracts/usage-record.ts';
import { parseJobId } from '../../db/ids.ts';
import type { JobScope } from '../../db/job-scope.ts';
import { sumUsageByGroup, type UsageReading } from '../../db/usage.ts';
import { findUsageJob, listUsageJobs } from '../../db/usage-jobs.ts';
import { readHorizon, type UsageWindow } from '../../db/usage-window.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentUsageGroup } from '../presentation/usage.ts';
import { isCustomer } from './customer-view.ts';
import { fromCursor, ITEM_POSITION, take, toCursor } from './export-usage.ts';
import { tenantScope } from './owned-job.ts';
import { recordExport } from './record-export.ts';
import {
  entriesOfScope,
  type ItemEntry,
  itemEntries,
  JOB_START,
  jobPieces,
  sumEntries,
  type UsageEntry,
} from './usage-entries.ts';

const LIST = 'usage-report';
const ITEM_LIST = 'usage-items';
const SINCE = 'usage-since';
const START = 'start';
const DAY_START = /T00:00:00\.000Z$/;

const TransactionId = z.string().regex(/^[0-9]{1,20}$/);
const Since = [TransactionId, z.int()] as const;
/** The last job of a page, and where this read ends. */
const Position = [z.string(), z.union([TransactionId, z.literal('')])] as const;

type Dependencies = Pick<ApiDependencies, 'db' | 'now'>;

export interface UsageReportRequest {
  readonly principal: Principal;
  readonly query: UsageQuery;
}

/**
 * What all jobs that the key may see have used: records of jobs or of items, or sums by group, net of refunds. With
 * `since` the answers that follow each other miss nothing that was committed late. Throws `invalid_request` for a window
 * that would cut a day's record in two.
 */
export async function reportUsage(
  dependencies: Dependencies,
  { principal, query }: UsageReportRequest,
): Promise<UsageReport> {
  const scope = tenantScope(principal);
  if (query.group_by !== undefined) {
    const { groups, nextSince } = await sumGroups(dependencies, { principal, query });
    return { data: groups, next_cursor: null, next_since: nextSince };
  }
  return query.level === 'item'
    ? itemPage(dependencies, scope, { principal, query })
    : jobPage(dependencies, scope, { principal, query });
}

/** All records of the report as one stream, with where the next read starts; null where `since` was not asked for. */
export async function openReportStream(
  dependencies: Dependencies,
  { principal, query }: UsageReportRequest,
): Promise<{ readonly pieces: AsyncGenerator<readonly UsageEntry[]>; readonly nextSince: string | null }> {
  const scope = tenantScope(principal);
  const { reading, nextSince } = await open(dependencies, { principal, query }, null);
  await recordExport(dependencies, principal, { jobId: null, of: query.level });
  return { pieces: entriesOfScope(dependencies.db.pool, scope, query.level, reading), nextSince };
}

/** As `reportUsage` sums groups, for a stream. */
export async function exportGroups(
  dependencies: Dependencies,
  request: UsageReportRequest,
): ReturnType<typeof sumGroups> {
  const sums = await sumGroups(dependencies, request);
  await recordExport(dependencies, request.principal, { jobId: null, of: 'group' });
  return sums;
}

async function sumGroups(
  dependencies: Dependencies,
  { principal, query }: UsageReportRequest,
): Promise<{ readonly groups: UsageGroupSum[]; readonly nextSince: string | null }> {
  if (query.level === 'item' || query.format === 'focus') {
    const field = query.level === 'item' ? 'level' : 'format';
    throw new GatewayError('invalid_request', 'Sums by group have no items and no FOCUS form: leave group_by out.', {
      field,
    });
  }
  const { reading, nextSince } = await open(dependencies, { principal, query }, null);
  const sums = await sumUsageByGroup(dependencies.db.pool, tenantScope(principal), reading, query.group_by ?? []);
  return { groups: sums.map((sum) => presentUsageGroup(sum, reading)), nextSince };
}

async function jobPage(dependencies: Dependencies, scope: JobScope, request: UsageReportRequest): Promise<UsageReport> {
  const { query } = request;
  const position = decodeCursor(LIST, Position, query.cursor);
  const { reading, horizon, nextSince } = await open(dependencies, request, position?.[1] ?? null);
  const { pool } = dependencies.db;
  const page = {
    afterUuid: position === null ? null : (parseJobId(position[0])?.uuid ?? null),
    limit: query.limit + 1,
  };
  const jobs = await listUsageJobs(pool, scope, reading.window, page);
  const shown = jobs.slice(0, query.limit);
  const entries = await sumEntries(pool, shown, reading);
  const last = jobs.length > query.limit ? shown.at(-1) : undefined;
  return {
    data: entries.map(({ record }) => record),
    next_cursor: last === undefined ? null : encodeCursor(LIST, [last.jobId, horizon ?? '']),
    next_since: nextSince,
  };
}

async function itemPage(
  dependencies: Dependencies,
  scope: JobScope,
  request: UsageReportRequest,
): Promise<UsageReport> {
  const { query } = request;
  const position = decodeCursor(ITEM_LIST, [...Position, ...ITEM_POSITION] as const, query.cursor);
  const { reading, horizon, nextSince } = await open(dependencies, request, position?.[1] ?? null);
  const { pool } = dependencies.db;
  const range = { pieceRows: query.limit, withCorrections: true };
  const entries: ItemEntry[] = [];
  const fill = async (pieces: AsyncGenerator<readonly ItemEntry[]>) => {
    entries.push(...(await take(pieces, query.limit - entries.length)));
    return entries.length === query.limit;
  };
  const current = position === null ? null : await findUsageJob(pool, scope, position[0]);
  if (position !== null && current !== null) {
    const [, , ...after] = position;
    await fill(itemEntries(pool, current, reading, { ...range, after: fromCursor(after) }));
  }
  for await (const jobs of jobPieces(pool, scope, reading, current?.uuid ?? null)) {
    for (const job of jobs) {
      if (entries.length === query.limit) break;
      await fill(itemEntries(pool, job, reading, { ...range, after: JOB_START }));
    }
    if (entries.length === query.limit) break;
  }
  const last = entries.length === query.limit ? entries.at(-1) : undefined;
  return {
    data: entries.map(({ record }) => record),
    next_cursor:
      last === undefined ? null : encodeCursor(ITEM_LIST, [last.job.jobId, horizon ?? '', ...toCursor(last.position)]),
    next_since: nextSince,
  };
}

/** Later pages of one read end where its first did. */
async function open(
  { db, now }: Dependencies,
  { principal, query }: UsageReportRequest,
  firstHorizon: string | null,
): Promise<{ readonly reading: UsageReading; readonly horizon: string | null; readonly nextSince: string | null }> {
  const at = now();
  const horizon = query.since === undefined ? null : firstHorizon || (await readHorizon(db.pool));
  return {
    reading: { window: windowOf(query, horizon), isCustomer: isCustomer(principal) },
    horizon,
    nextSince: horizon === null ? null : encodeCursor(SINCE, [horizon, at.getTime()]),
  };
}

function windowOf(query: UsageQuery, horizon: string | null): UsageWindow {
  if (query.level === 'job' && query.group_by === undefined) refusePartDays(query);
  const time = (text: string | undefined) => (text === undefined ? null : new Date(text));
  const times = { from: time(query.from), to: time(query.to), jobKind: query.job_kind ?? null };
  if (query.since === undefined || horizon === null) return { ...times, written: null };
  if (query.since === START) return { ...times, written: { fromXid: '0', sinceAt: new Date(0), toXid: horizon } };
  const [fromXid, sinceMs] = decodeSince(query.since);
  return { ...times, written: { fromXid, sinceAt: new Date(sinceMs), toXid: horizon } };
}

/** Part of a day's record would have the id of the whole. */
function refusePartDays(query: UsageQuery): void {
  for (const field of ['from', 'to'] as const) {
    const given = query[field];
    if (given === undefined || DAY_START.test(new Date(given).toISOString())) continue;
    const message = `Records of jobs are of whole days in UTC: ${field} must be the first moment of one. Any time will do with level=item or group_by.`;
    throw new GatewayError('invalid_request', message, { field });
  }
}

function decodeSince(since: string): [string, number] {
  try {
    const decoded = decodeCursor(SINCE, Since, since);
    if (decoded !== null) return decoded;
  } catch (error) {
    throw invalidSince(error);
  }
  throw invalidSince(undefined);
}

function invalidSince(cause: unknown): GatewayError {
  const message = 'Pass since=start, or next_since exactly as an answer gave it.';
  return new GatewayError('invalid_cursor', message, { field: 'since', cause });
}
