import type pg from 'pg';
import type { Endpoint, Provider } from '../domain/provider.ts';
import type { JobKey } from './job-rows.ts';

/** One attempt to have a provider run a shard. A second create is a second attempt, with a token of its own. */
export interface AttemptRow {
  readonly shard: number;
  readonly attempt: number;
  /** The attempt's integer key, for the result stage. */
  readonly attemptNo: string;
  readonly attemptToken: string;
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  readonly credentialId: string;
  readonly providerBatchId: string | null;
  readonly inputFileId: string | null;
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
  readonly nativeStatus: string | null;
  readonly itemCount: number;
  readonly estimatedInputTokens: number;
  readonly pollCount: number;
  readonly createStartedAt: Date | null;
  readonly createDeadline: Date | null;
  readonly createOutcome: 'accepted' | 'refused' | 'not_found' | 'not_sent' | null;
  readonly acceptedAt: Date | null;
  readonly lastPolledAt: Date | null;
  readonly expiresAt: Date | null;
  readonly endedAt: Date | null;
  readonly batchEnd: 'completed' | 'failed' | 'expired' | 'cancelled' | null;
  /** Set once nothing of the attempt is open any more. */
  readonly closedAt: Date | null;
  readonly createdAt: Date;
  /** When it took room in the provider's queue; null while it waits for its turn. */
  readonly roomTakenAt: Date | null;
  /** First seen past the provider's validation. */
  readonly queuedAt: Date | null;
  /** Its batch was found in a list, not named in the answer to the create. */
  readonly foundByLook: boolean;
  /** Batches once taken for its own, whose results turned out to be another's. */
  readonly disownedBatchIds: readonly string[];
  /** Chosen by an operator among several candidates, and not yet asked for. */
  readonly chosenBatchId: string | null;
}

type Queryable = Pick<pg.Pool, 'query'>;

const COLUMNS = `shard, attempt, attempt_no, attempt_token, provider, endpoint, credential_id, provider_batch_id, input_file_id,
  output_file_id, error_file_id, native_status, item_count, estimated_input_tokens, poll_count, create_started_at, create_deadline,
  create_outcome, accepted_at, last_polled_at, expires_at, ended_at, batch_end, closed_at, created_at, room_taken_at, queued_at,
  found_by_look, disowned_batch_ids, chosen_batch_id`;

export async function findLastAttempt(db: Queryable, job: JobKey, shard: number): Promise<AttemptRow | null> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM batch_provider_metadata WHERE job_id = $1 AND shard = $2 ORDER BY attempt DESC LIMIT 1`,
    [job.uuid, shard],
  );
  return rows[0] === undefined ? null : toAttemptRow(rows[0]);
}

/** Attempts of a shard that have a batch, oldest first. */
export async function listSentAttempts(db: Queryable, job: JobKey, shard: number): Promise<AttemptRow[]> {
  return listAttemptsWhere(db, job, 'shard = $2 AND provider_batch_id IS NOT NULL ORDER BY attempt', [shard]);
}

/** Attempts of a job for which `condition` holds: SQL of our own, with its parameters from `$2` on. */
export async function listAttemptsWhere(
  db: Pick<pg.ClientBase, 'query'>,
  job: JobKey,
  condition: string,
  values: readonly unknown[] = [],
): Promise<AttemptRow[]> {
  const select = `SELECT ${COLUMNS} FROM batch_provider_metadata WHERE job_id = $1 AND ${condition}`;
  const { rows } = await db.query(select, [job.uuid, ...values]);
  return rows.map(toAttemptRow);
}

/** Throws for an attempt that was never made. */
export async function getAttempt(db: Queryable, job: JobKey, shard: number, attempt: number): Promise<AttemptRow> {
  const { rows } = await db.query(
    `SELECT ${COLUMNS} FROM batch_provider_metadata WHERE job_id = $1 AND shard = $2 AND attempt = $3`,
    [job.uuid, shard, attempt],
  );
  if (rows[0] === undefined) throw new Error(`no attempt ${attempt} of shard ${shard}`);
  return toAttemptRow(rows[0]);
}

/** A new attempt of a shard, before anything of it is sent. The job's row must be locked. */
export async function insertAttempt(
  client: pg.PoolClient,
  job: JobKey,
  attempt: {
    shard: number;
    attempt: number;
    attemptToken: string;
    provider: Provider;
    endpoint: Endpoint;
    credentialId: string;
    itemCount: number;
    estimatedInputTokens: number;
    /** Batches that surely are none of this shard's. */
    disownedBatchIds: readonly string[];
  },
): Promise<void> {
  await client.query(
    `INSERT INTO batch_provider_metadata (job_id, shard, attempt, attempt_token, provider, endpoint, credential_id, item_count, estimated_input_tokens, disowned_batch_ids)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      job.uuid,
      attempt.shard,
      attempt.attempt,
      attempt.attemptToken,
      attempt.provider,
      attempt.endpoint,
      attempt.credentialId,
      attempt.itemCount,
      attempt.estimatedInputTokens,
      attempt.disownedBatchIds,
    ],
  );
  await client.query('UPDATE batch_shards SET attempt = $3 WHERE job_id = $1 AND shard = $2', [
    job.uuid,
    attempt.shard,
    attempt.attempt,
  ]);
}

/** What the provider calls the uploaded input. */
export async function recordInputFile(
  db: Queryable,
  job: JobKey,
  attempt: AttemptRow,
  inputFileId: string,
): Promise<void> {
  await db.query(
    `UPDATE batch_provider_metadata SET input_file_id = $4 WHERE job_id = $1 AND shard = $2 AND attempt = $3`,
    [job.uuid, attempt.shard, attempt.attempt, inputFileId],
  );
}

/** Where fewer items went into the input file than were open when the attempt began. */
export async function recordItemCount(
  db: Queryable,
  job: JobKey,
  attempt: AttemptRow,
  itemCount: number,
): Promise<void> {
  await db.query(
    `UPDATE batch_provider_metadata SET item_count = $4 WHERE job_id = $1 AND shard = $2 AND attempt = $3`,
    [job.uuid, attempt.shard, attempt.attempt, itemCount],
  );
}

/** The next submission of the attempt uploads its input again. */
export async function forgetInputFile(db: Queryable, job: JobKey, attempt: AttemptRow): Promise<void> {
  await db.query(
    `UPDATE batch_provider_metadata SET input_file_id = NULL WHERE job_id = $1 AND shard = $2 AND attempt = $3`,
    [job.uuid, attempt.shard, attempt.attempt],
  );
}

/** True for the first to record it. A second batch under the same token is the caller's to report. */
export async function recordAccepted(
  client: Queryable,
  job: JobKey,
  attempt: AttemptRow,
  batch: {
    providerBatchId: string;
    operationName: string | null;
    nativeStatus: string;
    expiresAt: Date | null;
    foundByLook: boolean;
    now: Date;
  },
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE batch_provider_metadata
     SET provider_batch_id = $4, operation_name = $5, native_status = $6, expires_at = $7, accepted_at = $8, create_outcome = 'accepted',
       found_by_look = $9, candidates = NULL, chosen_batch_id = NULL
     WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND create_outcome IS NULL`,
    [
      job.uuid,
      attempt.shard,
      attempt.attempt,
      batch.providerBatchId,
      batch.operationName,
      batch.nativeStatus,
      batch.expiresAt,
      batch.now,
      batch.foundByLook,
    ],
  );
  return rowCount === 1;
}

/** Closes an attempt that has no batch, or whose batch is done with. */
export async function closeAttempt(
  client: Queryable,
  job: JobKey,
  attempt: { shard: number; attempt: number },
  closing: { outcome: 'refused' | 'not_found' | 'not_sent' | null; now: Date },
): Promise<void> {
  await client.query(
    `UPDATE batch_provider_metadata SET closed_at = $4, create_outcome = coalesce(create_outcome, $5)
     WHERE job_id = $1 AND shard = $2 AND attempt = $3 AND closed_at IS NULL`,
    [job.uuid, attempt.shard, attempt.attempt, closing.now, closing.outcome],
  );
}

/** Closes the open attempt of a shard if its create was not taken. The row of the job must be locked. */
export async function closeUnsentAttempt(client: Queryable, job: JobKey, shard: number, now: Date): Promise<void> {
  await client.query(
    `UPDATE batch_provider_metadata SET closed_at = $3, create_outcome = coalesce(create_outcome, 'not_sent')
     WHERE job_id = $1 AND shard = $2 AND closed_at IS NULL AND create_started_at IS NULL AND provider_batch_id IS NULL`,
    [job.uuid, shard, now],
  );
}

/** What the provider said when it was asked last. */
export async function recordPoll(
  client: Queryable,
  job: JobKey,
  attempt: AttemptRow,
  poll: {
    nativeStatus: string;
    nativeCounts: Readonly<Record<string, unknown>> | null;
    nativeErrors: readonly unknown[];
    outputFileId: string | null;
    errorFileId: string | null;
    progress: { completed: number; failed: number } | null;
    expiresAt: Date | null;
    end: string | null;
    now: Date;
  },
): Promise<void> {
  await client.query(
    `UPDATE batch_provider_metadata SET native_status = $4, native_request_counts = $5, native_errors = $6,
       output_file_id = coalesce($7, output_file_id), error_file_id = coalesce($8, error_file_id),
       progress_completed = coalesce($9, progress_completed), progress_failed = coalesce($10, progress_failed),
       expires_at = coalesce($11, expires_at), batch_end = coalesce($12, batch_end),
       ended_at = CASE WHEN $12::text IS NULL THEN ended_at ELSE coalesce(ended_at, $13) END,
       last_polled_at = $13, poll_count = poll_count + 1
     WHERE job_id = $1 AND shard = $2 AND attempt = $3`,
    [
      job.uuid,
      attempt.shard,
      attempt.attempt,
      poll.nativeStatus,
      poll.nativeCounts === null ? null : JSON.stringify(poll.nativeCounts),
      poll.nativeErrors.length === 0 ? null : JSON.stringify(poll.nativeErrors),
      poll.outputFileId,
      poll.errorFileId,
      poll.progress?.completed ?? null,
      poll.progress?.failed ?? null,
      poll.expiresAt,
      poll.end,
      poll.now,
    ],
  );
}

/** How long recent completed batches of a provider and endpoint took, with their sizes: what the expected end is learned from. */
export async function listRecentDurations(
  db: Queryable,
  provider: Provider,
  endpoint: Endpoint,
): Promise<{ itemCount: number; durationMs: number }[]> {
  const { rows } = await db.query<{ items: number; ms: number }>(
    `SELECT item_count AS items, (extract(epoch FROM ended_at - accepted_at) * 1000)::float8 AS ms
     FROM batch_provider_metadata
     WHERE provider = $1 AND endpoint = $2 AND batch_end = 'completed' AND accepted_at IS NOT NULL
     ORDER BY ended_at DESC LIMIT 50`,
    [provider, endpoint],
  );
  return rows.map(({ items, ms }) => ({ itemCount: items, durationMs: ms }));
}

function toAttemptRow(row: Record<string, unknown>): AttemptRow {
  const get = <Value>(column: string): Value => row[column] as Value;
  return {
    shard: get('shard'),
    attempt: get('attempt'),
    attemptNo: get('attempt_no'),
    attemptToken: get('attempt_token'),
    provider: get('provider'),
    endpoint: get('endpoint'),
    credentialId: get('credential_id'),
    providerBatchId: get('provider_batch_id'),
    inputFileId: get('input_file_id'),
    outputFileId: get('output_file_id'),
    errorFileId: get('error_file_id'),
    nativeStatus: get('native_status'),
    itemCount: get('item_count'),
    estimatedInputTokens: Number(get('estimated_input_tokens')),
    pollCount: get('poll_count'),
    createStartedAt: get('create_started_at'),
    createDeadline: get('create_deadline'),
    createOutcome: get('create_outcome'),
    acceptedAt: get('accepted_at'),
    lastPolledAt: get('last_polled_at'),
    expiresAt: get('expires_at'),
    endedAt: get('ended_at'),
    batchEnd: get('batch_end'),
    closedAt: get('closed_at'),
    createdAt: get('created_at'),
    roomTakenAt: get('room_taken_at'),
    queuedAt: get('queued_at'),
    foundByLook: get('found_by_look'),
    disownedBatchIds: get('disowned_batch_ids'),
    chosenBatchId: get('chosen_batch_id'),
  };
}
