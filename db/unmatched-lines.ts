import type pg from 'pg';
import type { AttemptRow } from './attempts.ts';
import type { JobKey } from './job-rows.ts';

type Queryable = Pick<pg.Pool, 'query'>;

export interface UnmatchedLine {
  readonly file: number;
  readonly line: number;
  readonly reason: string;
  readonly providerItemId: string | null;
  readonly raw: Uint8Array;
}

/** Enough of a line to see what it is. */
const MAX_RAW_BYTES = 65_536;

/**
 * Keeps lines that belong to no item of the batch: visible, never charged, once each however often a file is read.
 * Answers how many are new.
 */
export async function insertUnmatchedLines(
  db: Queryable,
  job: JobKey,
  attempt: AttemptRow,
  lines: readonly UnmatchedLine[],
): Promise<number> {
  if (lines.length === 0) return 0;
  const { rowCount } = await db.query(
    `INSERT INTO unmatched_lines (job_id, shard, attempt, file, line, reason, provider_item_id, raw)
     SELECT $1, $2, $3, * FROM unnest($4::smallint[], $5::int[], $6::text[], $7::text[], $8::bytea[])
     ON CONFLICT DO NOTHING`,
    [
      job.uuid,
      attempt.shard,
      attempt.attempt,
      lines.map(({ file }) => file),
      lines.map(({ line }) => line),
      lines.map(({ reason }) => reason),
      lines.map(({ providerItemId }) => providerItemId?.replaceAll('\0', '\uFFFD').slice(0, 512) ?? null),
      lines.map(({ raw }) => Buffer.from(raw.subarray(0, MAX_RAW_BYTES))),
    ],
  );
  return rowCount ?? 0;
}

/** Forgets what an earlier reading of the same files kept: each reading tells the whole of it. */
export async function clearUnmatchedLines(db: Queryable, job: JobKey, attempt: AttemptRow): Promise<void> {
  await db.query('DELETE FROM unmatched_lines WHERE job_id = $1 AND shard = $2 AND attempt = $3', [
    job.uuid,
    attempt.shard,
    attempt.attempt,
  ]);
}

export interface IngestWarning {
  readonly code: 'provider_counts_disagree' | 'unmatched_lines' | 'foreign_batch' | 'late_results';
  readonly shard: number;
  readonly message: string;
}

/** Shows on the job what was odd about a batch's results; each warning of a shard once. */
export async function recordIngestWarnings(
  client: Queryable,
  job: JobKey,
  warnings: readonly IngestWarning[],
): Promise<void> {
  await client.query(
    `UPDATE job_progress SET unmatched_lines = (SELECT count(*) FROM unmatched_lines WHERE job_id = $1) WHERE job_id = $1`,
    [job.uuid],
  );
  for (const warning of warnings) {
    await client.query(
      `UPDATE job_progress SET warnings = warnings || $2::jsonb
       WHERE job_id = $1 AND NOT warnings @> $3::jsonb`,
      [job.uuid, JSON.stringify([warning]), JSON.stringify([{ code: warning.code, shard: warning.shard }])],
    );
  }
}
