import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import type { TokenHolder } from '../domain/surplus-batch.ts';
import { jobIdOf } from './ids.ts';
import { kindOf } from './job-kind.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** The attempt that a token was made for. */
export interface KnownToken extends TokenHolder {
  readonly attemptToken: string;
  readonly jobId: string;
  readonly tenantId: string;
  readonly shard: number;
  readonly attempt: number;
}

/** Tokens of this gateway among some, by token: a provider's account may be shared with others. */
export async function findTokens(
  db: Queryable,
  provider: Provider,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, KnownToken>> {
  const { rows } = await db.query(
    `SELECT m.*, j.tenant_id, j.kind FROM batch_provider_metadata m JOIN batch_jobs j ON j.job_id = m.job_id
     WHERE m.attempt_token = ANY($1) AND m.provider = $2`,
    [tokens, provider],
  );
  return new Map(
    rows.map((row) => [
      row.attempt_token,
      {
        attemptToken: row.attempt_token,
        jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
        tenantId: row.tenant_id,
        shard: row.shard,
        attempt: row.attempt,
        providerBatchId: row.provider_batch_id,
        createOutcome: row.create_outcome,
        createDeadline: row.create_deadline,
        closedAt: row.closed_at,
      },
    ]),
  );
}

/** An account at a provider, told by the credential that it is used with. */
export interface UsedAccount {
  readonly provider: Provider;
  readonly credentialId: string;
}

/** Those under which attempts were made since a time; where they are more than `limit`, another choice each time. */
export async function listUsedAccounts(db: Queryable, since: Date, limit: number): Promise<UsedAccount[]> {
  const { rows } = await db.query(
    `SELECT provider, credential_id FROM batch_provider_metadata WHERE greatest(created_at, create_started_at) >= $1
     GROUP BY provider, credential_id ORDER BY random() LIMIT $2`,
    [since, limit],
  );
  return rows.map((row) => ({ provider: row.provider, credentialId: row.credential_id }));
}

/** Attempts under an account that were given up since a time because their batch was not found. */
export async function listNotFound(
  db: Queryable,
  { provider, credentialId }: UsedAccount,
  since: Date,
  limit: number,
): Promise<{ jobId: string; shard: number; attempt: number }[]> {
  const { rows } = await db.query(
    `SELECT ${kindOf('batch_provider_metadata.job_id')} AS kind, job_id, shard, attempt FROM batch_provider_metadata
     WHERE provider = $1 AND create_outcome = 'not_found' AND closed_at >= $2 AND credential_id = $4
     ORDER BY random() LIMIT $3`,
    [provider, since, limit, credentialId],
  );
  return rows.map((row) => ({
    jobId: jobIdOf({ kind: row.kind, uuid: row.job_id }),
    shard: row.shard,
    attempt: row.attempt,
  }));
}
