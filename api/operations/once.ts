import type pg from 'pg';
import { type Answer, type IdempotentRequest, withIdempotency } from '../../db/idempotency-keys.ts';

/** An answer as JSON text, so that a repeated call gets the same bytes. */
export interface KeptAnswer extends Answer {
  readonly replayed: boolean;
}

/** Runs the effect, at most once for a key where the caller sent one. */
export async function once(
  client: pg.PoolClient,
  idempotency: IdempotentRequest | null,
  effect: () => Promise<Answer>,
): Promise<KeptAnswer> {
  if (idempotency !== null) return withIdempotency(client, idempotency, effect);
  return { ...(await effect()), replayed: false };
}
