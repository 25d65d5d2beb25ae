import { z } from 'zod';
import type { BatchSchedule, BatchScheduleList, ListSchedulesQuery } from '../../contracts/batch-schedule.ts';
import { findSchedule, listSchedules, type ScheduleRow } from '../../db/batch-schedules.ts';
import { listLastRuns } from '../../db/schedule-runs.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { CursorId, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentSchedule } from '../presentation/schedule.ts';
import { tenantScope } from './owned-job.ts';

const LIST = 'schedules';
const RUNS_SHOWN = 10;

type Dependencies = Pick<ApiDependencies, 'db' | 'scheduleClock'>;

/** Who asks for which schedule. */
export interface ScheduleRequest {
  readonly principal: Principal;
  readonly scheduleId: string;
}

/** One text for unknown, malformed, deleted and foreign ids. */
export function noSuchSchedule(): GatewayError {
  return new GatewayError('not_found', 'No such schedule.');
}

/** Throws `not_found`. */
export async function getSchedule(
  dependencies: Dependencies,
  { principal, scheduleId }: ScheduleRequest,
): Promise<BatchSchedule> {
  const row = await findSchedule(dependencies.db.pool, tenantScope(principal), scheduleId);
  if (row === null) throw noSuchSchedule();
  return showSchedule(dependencies, row);
}

/** With its last runs, and its next ones as Temporal tells them. */
export async function showSchedule({ db, scheduleClock }: Dependencies, row: ScheduleRow): Promise<BatchSchedule> {
  const runs = await listLastRuns(db.pool, [row.scheduleId], RUNS_SHOWN);
  return presentSchedule(row, runs.get(row.scheduleId) ?? [], await scheduleClock.nextTimes(row.scheduleId));
}

/** Schedules that the key may see, newest first. */
export async function listOwnedSchedules(
  { db, scheduleClock }: Dependencies,
  { principal, query }: { readonly principal: Principal; readonly query: ListSchedulesQuery },
): Promise<BatchScheduleList> {
  const position = decodeCursor(LIST, [z.int(), CursorId] as const, query.cursor);
  const rows = await listSchedules(db.pool, tenantScope(principal), {
    after: position === null ? null : { createdAt: new Date(position[0]), scheduleId: position[1] },
    limit: query.limit + 1,
  });
  const page = rows.slice(0, query.limit);
  const ids = page.map(({ scheduleId }) => scheduleId);
  const runs = await listLastRuns(db.pool, ids, RUNS_SHOWN);
  const times = await Promise.all(ids.map((id) => scheduleClock.nextTimes(id)));
  const last = rows.length > query.limit ? page.at(-1) : undefined;
  return {
    data: page.map((row, index) => presentSchedule(row, runs.get(row.scheduleId) ?? [], times[index] ?? null)),
    next_cursor: last === undefined ? null : encodeCursor(LIST, [last.createdAt.getTime(), last.scheduleId]),
  };
}
