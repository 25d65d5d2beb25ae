import type pg from 'pg';
import { deriveStatus, isTerminal, type JobState } from '../domain/job-state.ts';
import type { Provider } from '../domain/provider.ts';
import type { ShardState } from '../domain/shard-state.ts';
import { stageOfJob, stageOfShard } from '../domain/stage.ts';
import type { JobKey, JobRow } from './job-rows.ts';
import { enterStage, startStages, WHOLE_JOB } from './stage-times.ts';

/** A range of item numbers of one model: what one provider batch carries. */
export interface ShardRow {
  readonly shard: number;
  readonly firstItemNo: number;
  readonly lastItemNo: number;
  /** The model its items asked for themselves; empty where they follow the job's. */
  readonly requestedModel: string;
  readonly provider: Provider;
  readonly providerModel: string;
  readonly itemCount: number;
  readonly state: ShardState;
  readonly waitingReason: string | null;
  readonly waitingSince: Date | null;
  /** An operator has given it up: nothing is waited for any more. */
  readonly givenUpAt: Date | null;
  /** An operator wants a settled shard's results read once more. */
  readonly rereadRequestedAt: Date | null;
}

type OwnState = 'shard' | 'state' | 'waitingReason' | 'waitingSince' | 'givenUpAt' | 'rereadRequestedAt';

export interface PlannedShard extends Omit<ShardRow, OwnState> {
  readonly byteCount: number;
}

type Queryable = Pick<pg.Pool, 'query'>;

const COLUMNS = `shard, first_item_no, last_item_no, requested_model, provider, provider_model, item_count, state,
  waiting_reason, waiting_since, given_up_at, reread_requested_at`;

export async function listShards(db: Queryable, job: JobKey): Promise<ShardRow[]> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM batch_shards WHERE job_id = $1 ORDER BY shard`, [job.uuid]);
  return rows.map(toShardRow);
}

/** Throws for a shard the job does not have. */
export async function getShard(db: Queryable, job: JobKey, shard: number): Promise<ShardRow> {
  const found = await findShard(db, job, shard);
  if (found === null) throw new Error(`no shard ${shard}`);
  return found;
}

/** Null for a shard the job does not have. */
export async function findShard(db: Queryable, job: JobKey, shard: number): Promise<ShardRow | null> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM batch_shards WHERE job_id = $1 AND shard = $2`, [
    job.uuid,
    shard,
  ]);
  return rows[0] === undefined ? null : toShardRow(rows[0]);
}

/**
 * The longest range from `fromItemNo` on that keeps the limits, null when no item of the model is left up to the last. A single item
 * is taken even if it is over them: admission has refused those that are.
 */
export async function cutShard(
  db: Queryable,
  job: JobRow,
  cut: {
    fromItemNo: number;
    throughItemNo: number;
    requestedModel: string;
    maxItems: number;
    maxBytes: number;
    maxEmbeddingInputs: number | null;
    maxInputTokens: number | null;
    extraBytesPerItem: number;
  },
): Promise<{ firstItemNo: number; lastItemNo: number; itemCount: number; byteCount: number } | null> {
  const { rows } = await db.query<{ first: number | null; last: number; items: number; bytes: string }>(
    `SELECT min(item_no) AS first, max(item_no) AS last, count(*)::int AS items, sum(bytes) AS bytes
     FROM (
       SELECT item_no, bytes, sum(bytes) OVER (ORDER BY item_no) AS running, sum(embedding_inputs) OVER (ORDER BY item_no) AS inputs,
         sum(estimated_tokens) OVER (ORDER BY item_no) AS tokens, row_number() OVER (ORDER BY item_no) AS position
       FROM (
         SELECT item_no, request_bytes::bigint + $6 AS bytes, embedding_inputs, estimated_tokens FROM batch_items
         WHERE job_id = $1 AND bucket = $2 AND item_no BETWEEN $3 AND $4 AND coalesce(requested_model, '') = $5
         ORDER BY item_no LIMIT $7
       ) taken
     ) summed
     WHERE (running <= $8 AND ($9::bigint IS NULL OR inputs <= $9) AND ($10::bigint IS NULL OR tokens <= $10)) OR position = 1`,
    [
      job.key.uuid,
      job.key.bucket,
      cut.fromItemNo,
      cut.throughItemNo,
      cut.requestedModel,
      cut.extraBytesPerItem,
      cut.maxItems,
      cut.maxBytes,
      cut.maxEmbeddingInputs,
      cut.maxInputTokens,
    ],
  );
  const row = rows[0];
  if (row === undefined || row.first === null) return null;
  return { firstItemNo: row.first, lastItemNo: row.last, itemCount: row.items, byteCount: Number(row.bytes) };
}

/** Adds shards, numbered after those there are. */
export async function insertShards(
  client: pg.PoolClient,
  job: JobKey,
  shards: readonly PlannedShard[],
  shardsBefore = 0,
): Promise<void> {
  for (const [index, shard] of shards.entries()) {
    await client.query(
      `INSERT INTO batch_shards (job_id, shard, first_item_no, last_item_no, requested_model, provider, provider_model, item_count, byte_count)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
      [
        job.uuid,
        shardsBefore + index + 1,
        shard.firstItemNo,
        shard.lastItemNo,
        shard.requestedModel,
        shard.provider,
        shard.providerModel,
        shard.itemCount,
        shard.byteCount,
      ],
    );
  }
  await startStages(client, job);
}

/**
 * Moves a shard and, with it, the public state of its job and what the job waits for. The job's row must be locked.
 * A settled or superseded shard stays so. Without `waiting` the shard keeps what it waits for; null ends the wait.
 */
export async function moveShard(
  client: pg.PoolClient,
  job: JobRow,
  shard: number,
  move: { state: ShardState; waiting?: string | null; nextPollAt?: Date | null; now: Date },
): Promise<void> {
  const keep = move.waiting === undefined;
  const { rowCount } = await client.query(
    `UPDATE batch_shards SET
       state = $3,
       waiting_since = CASE WHEN $7 OR waiting_reason = $4 THEN waiting_since WHEN $4::text IS NULL THEN NULL ELSE $5 END,
       waiting_reason = CASE WHEN $7 THEN waiting_reason ELSE $4 END,
       next_poll_at = $6,
       settled_at = CASE WHEN $3 = 'settled' THEN $5 END
     WHERE job_id = $1 AND shard = $2 AND state NOT IN ('settled', 'superseded')`,
    [job.key.uuid, shard, move.state, move.waiting ?? null, move.now, move.nextPollAt ?? null, keep],
  );
  // A superseded shard hands its times on to its halves.
  if (rowCount === 1 && move.state !== 'superseded') {
    await enterStage(client, job.key, shard, stageOfShard(move.state), move.now);
  }
  await refreshJobState(client, job, move.now);
}

interface JobOfShards {
  readonly states: ShardState[];
  readonly reason: string | null;
  readonly since: Date | null;
  readonly wave_since: Date | null;
}

const NO_SHARDS: JobOfShards = { states: [], reason: null, since: null, wave_since: null };

/** Since when a wave of retries waits for its time. */
const PLANNED_WAVE =
  'SELECT max(planned_at) FROM retry_waves WHERE job_id = $1 AND started_at IS NULL AND skipped_at IS NULL';

/** Derives the job's public state from its shards and waves, and with `at` the stage it is in from then on. Ended jobs keep theirs. */
export async function refreshJobState(client: pg.PoolClient, job: JobRow, at: Date | null = null): Promise<JobState> {
  if (isTerminal(job.state) || job.state === 'draft') return job.state;
  const { rows } = await client.query<JobOfShards>(
    `SELECT coalesce(array_agg(state), '{}') AS states,
       (array_agg(waiting_reason ORDER BY waiting_since) FILTER (WHERE waiting_reason IS NOT NULL))[1] AS reason,
       min(waiting_since) FILTER (WHERE waiting_reason IS NOT NULL) AS since,
       (${PLANNED_WAVE}) AS wave_since
     FROM batch_shards WHERE job_id = $1`,
    [job.key.uuid],
  );
  const { states, wave_since: waveSince, ...waiting } = rows[0] ?? NO_SHARDS;
  const isCancelled = job.cancelRequestedAt !== null;
  const state = deriveStatus(states, isCancelled, waveSince !== null);
  const awaitsWave = waveSince !== null && !isCancelled;
  const reason = awaitsWave ? 'retry_backoff' : waiting.reason;
  const since = awaitsWave ? waveSince : waiting.since;
  await client.query(
    `UPDATE batch_jobs SET state = $2, waiting_reason = $3, waiting_since = $4
     WHERE job_id = $1 AND (state, waiting_reason, waiting_since) IS DISTINCT FROM ($2, $3, $4)`,
    [job.key.uuid, state, reason, since],
  );
  if (at !== null) await enterStage(client, job.key, WHOLE_JOB, stageOfJob(states, awaitsWave), at);
  return state;
}

/** Items of the shard that have no outcome yet: its outcomes are counted, and no table is joined. */
export async function countOpenItems(db: Queryable, job: JobKey, shard: ShardRow): Promise<number> {
  const { rows } = await db.query<{ ended: number }>(
    `SELECT count(*)::int AS ended FROM item_outcomes
     WHERE job_id = $1 AND bucket = $2 AND item_no BETWEEN $3 AND $4 AND shard = $5`,
    [job.uuid, job.bucket, shard.firstItemNo, shard.lastItemNo, shard.shard],
  );
  return shard.itemCount - (rows[0]?.ended ?? 0);
}

/** Input tokens of some of the shard's items, taken to be as long as all of them are on average. */
export async function estimateInputTokens(db: Queryable, job: JobKey, shard: ShardRow, items: number): Promise<number> {
  const { rows } = await db.query<{ tokens: string }>(
    `SELECT coalesce(sum(estimated_tokens::bigint), 0) AS tokens FROM batch_items
     WHERE job_id = $1 AND bucket = $2 AND item_no BETWEEN $3 AND $4 AND coalesce(requested_model, '') = $5`,
    [job.uuid, job.bucket, shard.firstItemNo, shard.lastItemNo, shard.requestedModel],
  );
  const tokens = Number(rows[0]?.tokens ?? 0);
  return shard.itemCount === 0 ? 0 : Math.round((tokens * items) / shard.itemCount);
}

function toShardRow(row: Record<string, unknown>): ShardRow {
  const get = <Value>(column: string): Value => row[column] as Value;
  return {
    shard: get('shard'),
    firstItemNo: get('first_item_no'),
    lastItemNo: get('last_item_no'),
    requestedModel: get('requested_model'),
    provider: get('provider'),
    providerModel: get('provider_model'),
    itemCount: get('item_count'),
    state: get('state'),
    waitingReason: get('waiting_reason'),
    waitingSince: get('waiting_since'),
    givenUpAt: get('given_up_at'),
    rereadRequestedAt: get('reread_requested_at'),
  };
}
