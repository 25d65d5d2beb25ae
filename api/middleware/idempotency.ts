import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import type { ApiContext } from '../env.ts';

/** The request's `Idempotency-Key` with what it is bound to; null where none was sent. Keys of one scope never meet another's. */
export function idempotencyOf(c: ApiContext, contentHash: Uint8Array, now: Date): IdempotentRequest | null {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return null;
  const { tenantId, projectId, customerId } = c.var.principal;
  return {
    owner: JSON.stringify([tenantId, projectId, customerId]),
    route: `${c.req.method} ${c.req.path}`,
    key,
    contentHash,
    now,
  };
}
