import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import type { ShardState } from '../domain/shard-state.ts';
import type { CandidateBatch } from './shard-marks.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

const MAX_UNMATCHED_LINES = 100;
const MAX_RAW_BYTES = 2_000;

/** A shard as operators see it, column for column. */
export interface ShardView {
  readonly shard: number;
  readonly state: ShardState;
  readonly attempt: number;
  readonly provider: Provider;
  readonly provider_model: string;
  readonly requested_model: string;
  readonly first_item_no: number;
  readonly last_item_no: number;
  readonly item_count: number;
  readonly byte_count: string;
  readonly waiting_reason: string | null;
  readonly waiting_since: Date | null;
  readonly next_poll_at: Date | null;
  readonly settled_at: Date | null;
  readonly given_up_at: Date | null;
  readonly reread_requested_at: Date | null;
}

/** A provider batch as operators see it, column for column. */
export interface ProviderBatchView {
  readonly shard: number;
  readonly attempt: number;
  readonly attempt_token: string;
  readonly provider: Provider;
  readonly endpoint: string;
  readonly region: string | null;
  readonly credential_id: string;
  readonly item_count: number;
  readonly provider_batch_id: string | null;
  readonly input_file_id: string | null;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly operation_name: string | null;
  readonly native_status: string | null;
  readonly native_request_counts: unknown;
  readonly native_errors: unknown;
  readonly raw_error_pointer: string | null;
  readonly create_outcome: 'accepted' | 'refused' | 'not_found' | 'not_sent' | null;
  readonly create_started_at: Date | null;
  readonly create_deadline: Date | null;
  readonly accepted_at: Date | null;
  readonly expires_at: Date | null;
  readonly ended_at: Date | null;
  readonly batch_end: string | null;
  readonly last_polled_at: Date | null;
  readonly poll_count: number;
  readonly candidates: CandidateBatch[] | null;
  readonly chosen_batch_id: string | null;
}

export interface UnmatchedLineView {
  readonly shard: number;
  readonly attempt: number;
  readonly file: number;
  readonly line: number;
  readonly reason: string;
  readonly provider_item_id: string | null;
  /** The start of the line. */
  readonly raw: Buffer;
  readonly raw_bytes: number;
}

export async function listShardViews(db: Queryable, jobUuid: string): Promise<ShardView[]> {
  const { rows } = await db.query<ShardView>(
    `SELECT shard, state, attempt, provider, provider_model, requested_model, first_item_no, last_item_no, item_count,
       byte_count, waiting_reason, waiting_since, next_poll_at, settled_at, given_up_at, reread_requested_at
     FROM batch_shards WHERE job_id = $1 ORDER BY shard`,
    [jobUuid],
  );
  return rows;
}

export async function listProviderBatchViews(db: Queryable, jobUuid: string): Promise<ProviderBatchView[]> {
  const { rows } = await db.query<ProviderBatchView>(
    `SELECT shard, attempt, attempt_token, provider, endpoint, region, credential_id, item_count, provider_batch_id,
       input_file_id, output_file_id, error_file_id, operation_name, native_status, native_request_counts, native_errors,
       raw_error_pointer, create_outcome, create_started_at, create_deadline, accepted_at, expires_at, ended_at, batch_end,
       last_polled_at, poll_count, candidates, chosen_batch_id
     FROM batch_provider_metadata WHERE job_id = $1 ORDER BY shard, attempt`,
    [jobUuid],
  );
  return rows;
}

/** How many lines belong to no item, and the first of them. */
export async function findUnmatchedLines(
  db: Queryable,
  jobUuid: string,
): Promise<{ readonly count: number; readonly lines: readonly UnmatchedLineView[] }> {
  const counted = await db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM unmatched_lines WHERE job_id = $1',
    [jobUuid],
  );
  const { rows } = await db.query<UnmatchedLineView>(
    `SELECT shard, attempt, file, line, reason, provider_item_id, substring(raw FROM 1 FOR $2) AS raw,
       octet_length(raw) AS raw_bytes
     FROM unmatched_lines WHERE job_id = $1 ORDER BY shard, attempt, file, line LIMIT $3`,
    [jobUuid, MAX_RAW_BYTES, MAX_UNMATCHED_LINES],
  );
  return { count: counted.rows[0]?.count ?? 0, lines: rows };
}
