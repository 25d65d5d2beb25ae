import type pg from 'pg';
import type { Database } from './client.ts';
import type { JobKey } from './job-rows.ts';
import { inTransaction } from './transaction.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Which of the result files of which attempt. */
export interface ArtifactPlace {
  readonly shard: number;
  readonly attempt: number;
  /** From 1 on. */
  readonly file: number;
}

/** What is known of a file once it is stored. */
export interface ArtifactFacts {
  /** Of the provider's file, before it was compressed. */
  readonly bytes: number;
  readonly sha256: Buffer;
  /** As it lies in the store. */
  readonly storedBytes: number;
}

export interface ArtifactRow extends ArtifactPlace {
  readonly kind: 'output' | 'error';
  /** Within the store. */
  readonly key: string;
  /** Null where the store did not take it. */
  readonly facts: ArtifactFacts | null;
  readonly storedAt: Date | null;
  readonly deletedAt: Date | null;
}

/** Every artifact of a job is under it, with a slash at its end. */
export function artifactPrefix(jobId: string): string {
  return `jobs/${jobId}/`;
}

export function artifactKey(jobId: string, { shard, attempt, file }: ArtifactPlace): string {
  return `${artifactPrefix(jobId)}${shard}/${attempt}/${file}.jsonl.zst`;
}

/**
 * Notes that a file is stored, or with null facts that the store did not take it. False where the job's content was deleted
 * by then: what was stored has to go again, which the job's row says from now on.
 */
export async function recordArtifact(
  db: Database,
  job: JobKey,
  row: Pick<ArtifactRow, 'shard' | 'attempt' | 'file' | 'kind' | 'key' | 'facts'>,
  now: Date,
): Promise<boolean> {
  return inTransaction(db, async (client) => {
    const { rows } = await client.query<{ isDeleted: boolean }>(
      'SELECT content_deleted_at IS NOT NULL AS "isDeleted" FROM batch_jobs WHERE job_id = $1 FOR NO KEY UPDATE',
      [job.uuid],
    );
    if (rows[0]?.isDeleted !== false) {
      await client.query('UPDATE batch_jobs SET removal_due_at = coalesce(removal_due_at, $2) WHERE job_id = $1', [
        job.uuid,
        now,
      ]);
      return false;
    }
    const { shard, attempt, file, kind, key, facts } = row;
    // One that is whole stays so where a later reading of the same file could not be stored.
    await client.query(
      `INSERT INTO artifacts AS a (job_id, shard, attempt, file, kind, key, bytes, stored_bytes, sha256, stored_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, CASE WHEN $9::bytea IS NOT NULL THEN $10::timestamptz END)
       ON CONFLICT (job_id, shard, attempt, file) DO UPDATE SET kind = excluded.kind, key = excluded.key,
         bytes = excluded.bytes, stored_bytes = excluded.stored_bytes, sha256 = excluded.sha256, stored_at = excluded.stored_at
       WHERE excluded.stored_at IS NOT NULL`,
      [
        ...[job.uuid, shard, attempt, file, kind, key],
        ...[facts?.bytes ?? null, facts?.storedBytes ?? null, facts?.sha256 ?? null, now],
      ],
    );
    return true;
  });
}

/** By shard, attempt and file, those after a place. */
export async function listArtifacts(
  db: Queryable,
  uuid: string,
  { after, limit }: { readonly after: ArtifactPlace | null; readonly limit: number },
): Promise<ArtifactRow[]> {
  const { rows } = await db.query<StoredRow>(
    `SELECT ${COLUMNS} FROM artifacts
     WHERE job_id = $1 AND ($2::int IS NULL OR (shard, attempt, file) > ($2, $3::int, $4::int))
     ORDER BY shard, attempt, file LIMIT $5`,
    [uuid, after?.shard ?? null, after?.attempt ?? null, after?.file ?? null, limit],
  );
  return rows.map(toArtifactRow);
}

export async function findArtifact(db: Queryable, uuid: string, place: ArtifactPlace): Promise<ArtifactRow | null> {
  const { rows } = await db.query<StoredRow>(
    `SELECT ${COLUMNS} FROM artifacts WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND file = $4`,
    [uuid, place.shard, place.attempt, place.file],
  );
  return rows[0] === undefined ? null : toArtifactRow(rows[0]);
}

/** Whether the store has anything of the job that is not known to be deleted. */
export async function hasArtifacts(db: Queryable, job: JobKey): Promise<boolean> {
  const { rowCount } = await db.query(
    'SELECT 1 FROM artifacts WHERE job_id = $1 AND stored_at IS NOT NULL AND deleted_at IS NULL LIMIT 1',
    [job.uuid],
  );
  return rowCount === 1;
}

export async function recordArtifactsDeleted(db: Queryable, job: JobKey, now: Date): Promise<void> {
  await db.query('UPDATE artifacts SET deleted_at = $2 WHERE job_id = $1 AND deleted_at IS NULL', [job.uuid, now]);
}

/** SQL, for a job as j: true where all files that came are in the store, false where one is not, NULL where none came. */
export const RAW_OUTPUT = `(SELECT bool_and(a.stored_at IS NOT NULL AND a.deleted_at IS NULL) FROM artifacts a
  WHERE a.job_id = j.job_id)`;

const COLUMNS = 'shard, attempt, file, kind, key, bytes, stored_bytes, sha256, stored_at, deleted_at';

interface StoredRow extends ArtifactPlace {
  readonly kind: 'output' | 'error';
  readonly key: string;
  readonly bytes: string | null;
  readonly stored_bytes: string | null;
  readonly sha256: Buffer | null;
  readonly stored_at: Date | null;
  readonly deleted_at: Date | null;
}

function toArtifactRow({ shard, attempt, file, kind, key, ...row }: StoredRow): ArtifactRow {
  const { bytes, stored_bytes: storedBytes, sha256 } = row;
  const facts = sha256 === null ? null : { bytes: Number(bytes), storedBytes: Number(storedBytes), sha256 };
  return { shard, attempt, file, kind, key, facts, storedAt: row.stored_at, deletedAt: row.deleted_at };
}
