import type { ApiKey, ApiKeyList } from '../../contracts/api-key.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { findKeyRecord, listKeyRecords } from '../../db/key-records.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentKey } from '../presentation/api-key.ts';
import { requireTenant } from './known-tenant.ts';
import { type PageWish, pageById } from './page-by-id.ts';

type Dependencies = Pick<ApiDependencies, 'db'>;

/** Whose keys: those of a tenant, or of the gateway itself where that is null. */
export interface KeyHolder {
  readonly tenantId: string | null;
}

export interface KeyRequest extends KeyHolder {
  readonly keyId: string;
}

/** Keys without their secrets, oldest first. Throws `not_found`. */
export async function listKeys(
  dependencies: Dependencies,
  { tenantId, ...wish }: KeyHolder & PageWish,
): Promise<ApiKeyList> {
  await requireHolder(dependencies, { tenantId });
  return pageById('keys', wish, (page) => listKeyRecords(dependencies.db.pool, tenantId, page), {
    idOf: ({ keyId }) => keyId,
    present: presentKey,
  });
}

/** Throws `not_found`. */
export async function getKey(dependencies: Dependencies, request: KeyRequest): Promise<ApiKey> {
  await requireHolder(dependencies, request);
  const key = isStorable(request.keyId) ? await findKeyRecord(dependencies.db.pool, request) : null;
  if (key === null) throw noSuchKey(request);
  return presentKey(key);
}

export async function requireHolder(dependencies: Dependencies, { tenantId }: KeyHolder): Promise<void> {
  if (tenantId !== null) await requireTenant(dependencies, tenantId);
}

export function noSuchKey({ tenantId }: KeyHolder): GatewayError {
  return new GatewayError('not_found', `The ${tenantId === null ? 'gateway' : 'tenant'} has no such key.`);
}
