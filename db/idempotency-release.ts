import type pg from 'pg';
import type { IdempotentRequest } from './idempotency-keys.ts';

/** Forgets a key whose effect was taken back, in the transaction that takes it back, so that it may be tried again. */
export async function releaseIdempotencyKey(
  client: pg.PoolClient,
  { owner, route, key }: IdempotentRequest,
): Promise<void> {
  await client.query('DELETE FROM idempotency_keys WHERE owner = $1 AND route = $2 AND key = $3', [owner, route, key]);
}
