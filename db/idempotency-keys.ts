import type pg from 'pg';
import { GatewayError } from '../domain/gateway-error.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;
const FIRST_UNSTORED_STATUS = 500;

export interface IdempotentRequest {
  /** Who sent it: keys of different owners never meet. */
  readonly owner: string;
  /** Method and path. */
  readonly route: string;
  readonly key: string;
  /** SHA-256 of the content. */
  readonly contentHash: Uint8Array;
  readonly now: Date;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * Runs `effect` once for a key, in the transaction that `client` holds, and keeps its answer for 24 hours; asked again
 * with the same content, gives that answer and changes nothing. A twin that runs at the same time waits here for the
 * first to end, then replays it, or takes its place if it failed. An answer of 500 or more is not kept, nor is an error
 * that `effect` throws, since the caller's transaction then rolls back. Throws `idempotency_conflict` for other content.
 */
export async function withIdempotency(
  client: pg.PoolClient,
  request: IdempotentRequest,
  effect: () => Promise<Answer>,
): Promise<Answer & { readonly replayed: boolean }> {
  if (!(await take(client, request))) return { ...(await replay(client, request)), replayed: true };
  const answer = await effect();
  await store(client, request, answer);
  return { ...answer, replayed: false };
}

/** Deletes what is older than 24 hours; returns how many. */
export async function purgeIdempotencyKeys(db: Pick<pg.ClientBase, 'query'>, now: Date): Promise<number> {
  const { rowCount } = await db.query('DELETE FROM idempotency_keys WHERE created_at <= $1', [expiryAt(now)]);
  return rowCount ?? 0;
}

/** True when the key is new or expired: then it is this transaction's. */
async function take(
  client: pg.PoolClient,
  { owner, route, key, contentHash, now }: IdempotentRequest,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `INSERT INTO idempotency_keys AS old (owner, route, key, content_hash, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (owner, route, key) DO UPDATE SET content_hash = excluded.content_hash,
       created_at = excluded.created_at, response_status = NULL, response_body = NULL
     WHERE old.created_at <= $6`,
    [owner, route, key, contentHash, now, expiryAt(now)],
  );
  return rowCount === 1;
}

async function replay(client: pg.PoolClient, { owner, route, key, contentHash }: IdempotentRequest): Promise<Answer> {
  const { rows } = await client.query<{ content_hash: Buffer; status: number | null; body: string | null }>(
    `SELECT content_hash, response_status AS status, response_body AS body
     FROM idempotency_keys WHERE owner = $1 AND route = $2 AND key = $3`,
    [owner, route, key],
  );
  const row = rows[0];
  if (row === undefined) throw new GatewayError('conflict', 'This Idempotency-Key has just expired. Try again.');
  if (!row.content_hash.equals(contentHash)) {
    throw new GatewayError('idempotency_conflict', 'This Idempotency-Key was used with other content. Use a new key.');
  }
  if (row.status === null || row.body === null) throw new Error('an idempotency key was committed without its answer');
  return { status: row.status, body: row.body };
}

async function store(client: pg.PoolClient, { owner, route, key }: IdempotentRequest, answer: Answer): Promise<void> {
  if (answer.status >= FIRST_UNSTORED_STATUS) {
    await client.query('DELETE FROM idempotency_keys WHERE owner = $1 AND route = $2 AND key = $3', [
      owner,
      route,
      key,
    ]);
    return;
  }
  await client.query(
    `UPDATE idempotency_keys SET response_status = $4, response_body = $5 WHERE owner = $1 AND route = $2 AND key = $3`,
    [owner, route, key, answer.status, answer.body],
  );
}

function expiryAt(now: Date): Date {
  return new Date(now.getTime() - KEPT_MS);
}
