import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';

/** What a provider's queue for one credential and model is known to be, column for column. */
export interface CapacityView {
  readonly credential_id: string;
  readonly provider: Provider;
  readonly provider_model: string;
  readonly full_since: Date | null;
  readonly last_refused_at: Date | null;
  /** The provider's own words. */
  readonly last_reason: string | null;
  readonly next_try_at: Date | null;
  readonly known_limit_tokens: number | null;
  readonly known_limit_items: number | null;
  readonly batches: number;
  readonly items: number;
  readonly input_tokens: number;
}

/** The queues that a job's shards have asked for room in, with what all jobs together have in them. */
export async function listCapacityViews(db: Pick<pg.Pool, 'query'>, jobUuid: string): Promise<CapacityView[]> {
  const { rows } = await db.query<CapacityView>(
    `SELECT a.credential_id, a.provider, a.provider_model, a.full_since, a.last_refused_at, a.last_reason,
       CASE WHEN a.full_since IS NOT NULL THEN a.probe_at END AS next_try_at,
       a.known_limit_tokens::float8 AS known_limit_tokens, a.known_limit_items::float8 AS known_limit_items, used.*
     FROM capacity_accounts a
     JOIN (
       SELECT DISTINCT m.credential_id, m.provider, s.provider_model
       FROM batch_provider_metadata m JOIN batch_shards s ON s.job_id = m.job_id AND s.shard = m.shard
       WHERE m.job_id = $1
     ) own ON own.credential_id = a.credential_id AND own.provider = a.provider AND own.provider_model = a.provider_model
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS batches, coalesce(sum(m.item_count), 0)::float8 AS items,
         coalesce(sum(m.estimated_input_tokens), 0)::float8 AS input_tokens
       FROM batch_provider_metadata m JOIN batch_shards s ON s.job_id = m.job_id AND s.shard = m.shard
       WHERE m.credential_id = a.credential_id AND m.provider = a.provider AND s.provider_model = a.provider_model
         AND m.closed_at IS NULL AND m.ended_at IS NULL AND m.room_taken_at IS NOT NULL
     ) used
     ORDER BY a.credential_id, a.provider, a.provider_model`,
    [jobUuid],
  );
  return rows;
}
