import type pg from 'pg';
import type { AttemptRow } from './attempts.ts';
import type { Database } from './client.ts';
import { jobIdOf } from './ids.ts';
import { type JobKey, lockJobRow } from './job-rows.ts';
import { inTransaction } from './transaction.ts';
import { hasEndedUnsent } from './unsent-documents.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/**
 * `lost`: another run took it, the attempt is closed, a cancel came, the deadline passed, or a document of its file was canceled.
 * `not_its_turn`: another create is unanswered.
 */
export type CreateClaim = 'taken' | 'lost' | 'not_its_turn';

/**
 * Takes the one create of the attempt: only the winner may send it. `oneAtATime` is for a provider whose batches carry
 * no label: while a create under the same credential is unanswered, two batches of like size could not be told apart.
 */
export async function takeCreate(
  db: Database,
  job: JobKey,
  attempt: AttemptRow,
  { oneAtATime, ...times }: { now: Date; deadline: Date; oneAtATime: boolean },
): Promise<CreateClaim> {
  const hasDocuments = job.kind === 'document';
  if (!oneAtATime && !hasDocuments) return (await claim(db.pool, job, attempt, times)) ? 'taken' : 'lost';
  return inTransaction(db, async (client) => {
    if (hasDocuments) {
      // Whoever cancels documents has this lock too: what they ask about is canceled before this, or not at all.
      await lockJobRow(client, jobIdOf(job));
      if (await hasEndedUnsent(client, job, attempt.shard)) return 'lost';
    }
    if (oneAtATime) {
      // Two that look at the same moment would each see no other. The lock lets one look after the other has committed:
      // the statements below it begin anew, and so see that one's claim.
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `batchgate.create/${attempt.provider}/${attempt.credentialId}`,
      ]);
      if (await isCreateUnanswered(client, job, attempt)) return 'not_its_turn';
    }
    return (await claim(client, job, attempt, times)) ? 'taken' : 'lost';
  });
}

async function claim(
  db: Queryable,
  job: JobKey,
  attempt: AttemptRow,
  times: { now: Date; deadline: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE batch_provider_metadata SET create_started_at = $4, create_deadline = $5
     WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND create_started_at IS NULL AND closed_at IS NULL
       AND EXISTS (SELECT 1 FROM batch_jobs WHERE job_id = $1 AND cancel_requested_at IS NULL AND (deadline IS NULL OR deadline > $4))`,
    [job.uuid, attempt.shard, attempt.attempt, times.now, times.deadline],
  );
  return rowCount === 1;
}

/** Whether a create of any other attempt under the same credential was sent, and nobody knows yet what became of it. */
export async function isCreateUnanswered(db: Queryable, job: JobKey, attempt: AttemptRow): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT 1 FROM batch_provider_metadata
     WHERE provider = $1 AND credential_id = $2 AND closed_at IS NULL AND create_started_at IS NOT NULL AND create_outcome IS NULL
       AND (job_id, shard, attempt) <> ($3::uuid, $4::int, $5::int) LIMIT 1`,
    [attempt.provider, attempt.credentialId, job.uuid, attempt.shard, attempt.attempt],
  );
  return rowCount === 1;
}

/** Gives an unsent or surely refused create back, so that the same attempt may be sent later. */
export async function giveCreateBack(db: Queryable, job: JobKey, attempt: AttemptRow): Promise<void> {
  await db.query(
    `UPDATE batch_provider_metadata SET create_started_at = NULL, create_deadline = NULL
     WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND create_outcome IS NULL`,
    [job.uuid, attempt.shard, attempt.attempt],
  );
}

/** Those of some batches that other attempts have for their own, of whatever job. */
export async function listOwned(
  db: Queryable,
  job: JobKey,
  attempt: AttemptRow,
  providerBatchIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT provider_batch_id AS id FROM batch_provider_metadata
     WHERE provider = $1 AND provider_batch_id = ANY($2) AND (job_id, shard, attempt) <> ($3::uuid, $4::int, $5::int)`,
    [attempt.provider, providerBatchIds, job.uuid, attempt.shard, attempt.attempt],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Takes a batch from an attempt that it was not of: the attempt is one whose create was never answered again. False when
 * the attempt no longer has that batch.
 */
export async function disownBatch(
  client: Queryable,
  job: JobKey,
  attempt: AttemptRow,
  errors: readonly unknown[],
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE batch_provider_metadata SET disowned_batch_ids = array_append(disowned_batch_ids, provider_batch_id),
       provider_batch_id = NULL, operation_name = NULL, create_outcome = NULL, accepted_at = NULL, queued_at = NULL, found_by_look = false,
       native_status = NULL, native_request_counts = NULL, native_errors = $5, output_file_id = NULL, error_file_id = NULL,
       progress_completed = NULL, progress_failed = NULL, expires_at = NULL, ended_at = NULL, batch_end = NULL
     WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND provider_batch_id = $4`,
    [job.uuid, attempt.shard, attempt.attempt, attempt.providerBatchId, JSON.stringify(errors)],
  );
  return rowCount === 1;
}
