import type pg from 'pg';
import { type Amount, formatNumeric, parseNumeric } from '../domain/money.ts';
import type { JobKey, JobRow } from './job-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A wave of retries of one job: planned, then begun or skipped. */
export interface RetryWaveRow {
  /** Which try of its items it is: 2 for the first wave. */
  readonly wave: number;
  readonly items: number;
  readonly dueAt: Date;
  readonly startedAt: Date | null;
  /** Both null until it began. */
  readonly firstItemNo: number | null;
  readonly lastItemNo: number | null;
  readonly skippedAt: Date | null;
}

/** What a wave costs by estimate, and what of the hold is left for it. */
export interface WaveCost {
  readonly items: number;
  readonly needed: Amount;
  readonly left: Amount;
}

/** In their order. */
export async function listWaves(db: Queryable, job: JobKey): Promise<RetryWaveRow[]> {
  const { rows } = await db.query<RetryWaveRow>(
    `SELECT wave, items, due_at AS "dueAt", started_at AS "startedAt", first_item_no AS "firstItemNo", last_item_no AS "lastItemNo",
       skipped_at AS "skippedAt"
     FROM retry_waves WHERE job_id = $1 ORDER BY wave`,
    [job.uuid],
  );
  return rows;
}

/** Plans a wave for `dueAt`, or with `isSkipped` notes that there is to be none. The job's row must be locked. */
export async function insertWave(
  client: Queryable,
  job: JobKey,
  wave: WaveCost & { readonly wave: number; readonly now: Date; readonly dueAt: Date; readonly isSkipped: boolean },
): Promise<void> {
  await client.query(
    `INSERT INTO retry_waves (job_id, wave, items, needed_amount, left_amount, planned_at, due_at, skipped_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, CASE WHEN $8 THEN $6::timestamptz END)`,
    [
      job.uuid,
      wave.wave,
      wave.items,
      formatNumeric(wave.needed),
      formatNumeric(wave.left),
      wave.now,
      wave.dueAt,
      wave.isSkipped,
    ],
  );
}

/** Notes that a planned wave is not sent after all. */
export async function skipWave(
  client: Queryable,
  job: JobKey,
  wave: { readonly wave: number; readonly now: Date },
): Promise<void> {
  await client.query('UPDATE retry_waves SET skipped_at = $3 WHERE job_id = $1 AND wave = $2 AND started_at IS NULL', [
    job.uuid,
    wave.wave,
    wave.now,
  ]);
}

/** Notes which items a planned wave has come to be. */
export async function beginWave(
  client: Queryable,
  job: JobKey,
  wave: WaveCost & {
    readonly wave: number;
    readonly now: Date;
    readonly firstItemNo: number;
    readonly lastItemNo: number;
  },
): Promise<void> {
  await client.query(
    `UPDATE retry_waves SET started_at = $3, items = $4, needed_amount = $5, left_amount = $6, first_item_no = $7, last_item_no = $8
     WHERE job_id = $1 AND wave = $2`,
    [
      job.uuid,
      wave.wave,
      wave.now,
      wave.items,
      formatNumeric(wave.needed),
      formatNumeric(wave.left),
      wave.firstItemNo,
      wave.lastItemNo,
    ],
  );
}

/** Items that waves have added to the job. */
export async function countWaveItems(db: Queryable, job: JobKey): Promise<number> {
  const { rows } = await db.query<{ items: number }>(
    'SELECT coalesce(sum(items), 0)::int AS items FROM retry_waves WHERE job_id = $1 AND started_at IS NOT NULL',
    [job.uuid],
  );
  return rows[0]?.items ?? 0;
}

/** What is left of the hold of the job's submission: of the one with the least where it has several. */
export async function readLeftOfHold(db: Queryable, job: JobRow): Promise<Amount> {
  const { rows } = await db.query<{ remains: string | null }>(
    'SELECT min(amount - drawn) AS remains FROM holds WHERE job_id = $1 AND submission_no = $2 AND released IS NULL',
    [job.key.uuid, job.submissionNo],
  );
  return parseNumeric(rows[0]?.remains ?? '0');
}

/** Shows on the job that failed items are not tried again for want of money. */
export async function warnOfSkippedWave(
  client: Queryable,
  job: JobKey,
  warning: { readonly wave: number; readonly message: string; readonly needed: string; readonly left: string },
): Promise<void> {
  await client.query('UPDATE job_progress SET warnings = warnings || $2::jsonb WHERE job_id = $1', [
    job.uuid,
    JSON.stringify([{ code: 'retry_wave_skipped', ...warning }]),
  ]);
}
