import type pg from 'pg';
import type { ApiKey, RotateKey } from '../../contracts/api-key.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { createKey } from '../../db/api-keys.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { findKeyRecord, hasOtherAdminKey, type KeyRecord, replaceKey, revokeKey } from '../../db/key-records.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentKey } from '../presentation/api-key.ts';
import { getKey, type KeyRequest, noSuchKey, requireHolder } from './list-keys.ts';
import { type KeptAnswer, once } from './once.ts';
import { showOnce } from './show-once.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now'>;

export interface RotateRequest extends KeyRequest {
  readonly principal: Principal;
  readonly rotation: RotateKey;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Makes a key with the same rights and the same end, and shows it, this once; the old one goes on for the overlap.
 * Recurring jobs of the old key go on under the new one. Throws `not_found`, or `conflict` for a key that has ended or was
 * replaced before.
 */
export async function rotateKey(dependencies: Dependencies, request: RotateRequest): Promise<KeptAnswer> {
  const { db, now } = dependencies;
  const { principal, tenantId, keyId, rotation, idempotency } = request;
  await requireHolder(dependencies, request);
  return showOnce((show) =>
    inTransaction(db, (client) =>
      once(client, idempotency, async () => {
        const at = now();
        const old = requireLive(await lockKey(client, request), at);
        const { keyId: successorId, key } = await createKey(client, { ...old, tenantId });
        const endsAt = new Date(at.getTime() + rotation.overlap_seconds * 1_000);
        await replaceKey(client, keyId, { successorId, endsAt });
        if (rotation.overlap_seconds === 0) await revokeKey(client, keyId, at);
        const details = { successor: successorId, overlap_seconds: rotation.overlap_seconds };
        await recordAudit(client, { act: 'key.rotated', actor: principal.keyId, tenantId, subject: keyId, details });
        const successor = await findKeyRecord(client, { tenantId, keyId: successorId });
        if (successor === null) throw new Error('an inserted key was not found');
        show(key);
        return { status: 201, body: JSON.stringify({ ...presentKey(successor), key: null }) };
      }),
    ),
  );
}

/**
 * From now on the key opens nothing; one that was revoked before stays as it is. Throws `not_found`, or `conflict` for the
 * last key with all rights of a gateway admin: nobody could make another.
 */
export async function endKey(
  dependencies: Dependencies,
  request: KeyRequest & { readonly principal: Principal },
): Promise<ApiKey> {
  const { db, now } = dependencies;
  const { principal, tenantId, keyId } = request;
  await requireHolder(dependencies, request);
  await inTransaction(db, async (client) => {
    const at = now();
    const key = await lockKey(client, request);
    if (key.revokedAt !== null) return;
    if (key.role === 'gateway_admin' && isLive(key, at) && !(await hasOtherAdminKey(client, key, at)))
      throw lastAdmin();
    await revokeKey(client, keyId, at);
    await recordAudit(client, { act: 'key.revoked', actor: principal.keyId, tenantId, subject: keyId });
  });
  return getKey(dependencies, request);
}

async function lockKey(client: pg.PoolClient, request: KeyRequest): Promise<KeyRecord> {
  const key = isStorable(request.keyId) ? await findKeyRecord(client, request, { lock: true }) : null;
  if (key === null) throw noSuchKey(request);
  return key;
}

function isLive({ revokedAt, expiresAt }: KeyRecord, at: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > at);
}

function requireLive(key: KeyRecord, at: Date): KeyRecord {
  if (key.replacedBy !== null)
    throw new GatewayError('conflict', `The key was replaced by ${key.replacedBy} already. Rotate that one.`);
  if (isLive(key, at)) return key;
  const how = key.revokedAt === null ? 'has expired' : 'was revoked';
  throw new GatewayError('conflict', `The key ${how}. Make a new one.`);
}

function lastAdmin(): GatewayError {
  return new GatewayError(
    'conflict',
    'This is the last gateway_admin key: without it, or after the others have expired, nobody could make keys. Make another one that lives as long, then revoke this one.',
  );
}
