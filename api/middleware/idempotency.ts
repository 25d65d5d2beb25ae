import { createHash } from 'node:crypto';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import type { ApiContext } from '../env.ts';

/** The request's `Idempotency-Key` and what it belongs to: keys of one scope never meet another's. */
export function keyOf(c: ApiContext): Pick<IdempotentRequest, 'owner' | 'route' | 'key'> | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  const { tenantId, projectId, customerId } = c.var.principal;
  return { owner: JSON.stringify([tenantId, projectId, customerId]), route: `${c.req.method} ${c.req.path}`, key };
}

/**
 * The same with the hash of what was asked: a body that was read whole, and the query, in which some calls name what they are
 * about. Null where no key was sent.
 */
export function idempotencyOf(c: ApiContext, now: Date): IdempotentRequest | null {
  const key = keyOf(c);
  return key === undefined ? null : { ...key, contentHash: withQuery(c.var.contentHash, c.req.url), now };
}

function withQuery(contentHash: Uint8Array, url: string): Uint8Array {
  const { searchParams } = new URL(url);
  if (searchParams.size === 0) return contentHash;
  searchParams.sort();
  return createHash('sha256').update(contentHash).update(searchParams.toString()).digest();
}
