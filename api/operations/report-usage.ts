import { z } from 'zod';
import type { UsageQuery, UsageReport } from '../../contracts/usage-record.ts';
import { fromUuid, toUuid } from '../../db/ids.ts';
import { listUsageJobs, readHorizon, sumUsageByGroup, sumUsageOfJobs, type UsageWindow } from '../../db/usage.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentJobUsage, presentUsageGroup } from '../presentation/usage.ts';
import { tenantScope } from './owned-job.ts';

const LIST = 'usage-report';
const SINCE = 'usage-since';
const START = 'start';

const TransactionId = z.string().regex(/^[0-9]{1,20}$/);
const Since = [TransactionId, z.int()] as const;
/** The last job of a page, and where this read ends. */
const Position = [z.string(), z.union([TransactionId, z.literal('')])] as const;

type Dependencies = Pick<ApiDependencies, 'db' | 'now'>;

/**
 * Settled usage of all jobs that the key may see: a record for each job and model, or sums by group. With `since` each
 * outcome is in exactly one of the answers that follow each other.
 */
export async function reportUsage(
  { db, now }: Dependencies,
  { principal, query }: { readonly principal: Principal; readonly query: UsageQuery },
): Promise<UsageReport> {
  const scope = tenantScope(principal);
  const at = now();
  const position = decodeCursor(LIST, Position, query.cursor);
  const horizon = query.since === undefined ? null : position?.[1] || (await readHorizon(db.pool));
  const window = windowOf(query, horizon);
  const nextSince = horizon === null ? null : encodeCursor(SINCE, [horizon, at.getTime()]);
  if (query.group_by !== undefined) {
    const groups = await sumUsageByGroup(db.pool, scope, window, query.group_by);
    return { data: groups.map(presentUsageGroup), next_cursor: null, next_since: nextSince };
  }
  const page = { afterUuid: position === null ? null : toUuid('job', position[0]), limit: query.limit + 1 };
  const jobs = await listUsageJobs(db.pool, scope, window, page);
  const shown = jobs.slice(0, query.limit);
  const records = await sumUsageOfJobs(db.pool, shown, window);
  const last = jobs.length > query.limit ? shown.at(-1) : undefined;
  return {
    data: records.map(presentJobUsage),
    next_cursor: last === undefined ? null : encodeCursor(LIST, [fromUuid('job', last), horizon ?? '']),
    next_since: nextSince,
  };
}

function windowOf(query: UsageQuery, horizon: string | null): UsageWindow {
  const time = (text: string | undefined) => (text === undefined ? null : new Date(text));
  const times = { from: time(query.from), to: time(query.to) };
  if (query.since === undefined || horizon === null) return { ...times, written: null };
  if (query.since === START) return { ...times, written: { fromXid: '0', sinceAt: new Date(0), toXid: horizon } };
  const [fromXid, sinceMs] = decodeSince(query.since);
  return { ...times, written: { fromXid, sinceAt: new Date(sinceMs), toXid: horizon } };
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
