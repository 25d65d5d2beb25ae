import type pg from 'pg';
import type { JobKind } from '../domain/job-kind.ts';

/** Which movements of money an export is about, and of what jobs. */
export interface UsageWindow {
  /** Made at or after, and before. */
  readonly from: Date | null;
  readonly to: Date | null;
  /** Written by transactions from `fromXid` on and before `toXid`; all where null. `sinceAt` is when the first ended. */
  readonly written: { readonly fromXid: string; readonly sinceAt: Date; readonly toXid: string } | null;
  /** Of jobs of one kind; of all where null. */
  readonly jobKind: JobKind | null;
}

export const WHOLE_WINDOW: UsageWindow = { from: null, to: null, written: null, jobKind: null };

/** SQL that holds for a movement at `at`, written by `writtenBy`, in the window; its four parameters are from `$first` on. */
export function windowCondition(at: string, writtenBy: string, first: number): string {
  return (
    `($${first}::timestamptz IS NULL OR ${at} >= $${first}) AND ($${first + 1}::timestamptz IS NULL OR ${at} < $${first + 1}) ` +
    `AND ($${first + 2}::xid8 IS NULL OR ${writtenBy} >= $${first + 2}) AND ($${first + 3}::xid8 IS NULL OR ${writtenBy} < $${first + 3})`
  );
}

export function windowValues({ from, to, written }: UsageWindow): unknown[] {
  return [from, to, written?.fromXid ?? null, written?.toXid ?? null];
}

/**
 * The oldest transaction still open: everything written before it is visible and nothing will be added, so a reader that
 * stops there and resumes there misses no late commit and reads nothing twice.
 */
export async function readHorizon(db: Pick<pg.ClientBase, 'query'>): Promise<string> {
  const { rows } = await db.query<{ xmin: string }>('SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin');
  return rows[0]?.xmin ?? '0';
}
