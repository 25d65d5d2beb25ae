import type pg from 'pg';
import { monthBucket } from '../domain/bucket.ts';

/** A job made in the last minute of a month is still being appended to, so the next month's partitions are always there. */
const MONTHS_AHEAD = 1;

/**
 * Makes sure that the partitions of this month and the next exist. Safe at any time, by any number of processes, and
 * cheap where there is nothing to do. Returns the buckets (yyyymm).
 */
export async function ensurePartitions(
  client: Pick<pg.ClientBase, 'query'>,
  nowMs: number,
): Promise<readonly number[]> {
  const buckets = bucketsFrom(nowMs);
  for (const bucket of buckets) await client.query('SELECT ensure_partitions($1)', [bucket]);
  return buckets;
}

function bucketsFrom(nowMs: number): number[] {
  const now = new Date(nowMs);
  return Array.from({ length: MONTHS_AHEAD + 1 }, (_, months) =>
    monthBucket(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)),
  );
}
