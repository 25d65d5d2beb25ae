import type { ChangeAllowList } from '../../contracts/allow-list.ts';
import type { ApiKey } from '../../contracts/api-key.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { setKeyAllowList } from '../../db/allow-lists.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { findKeyRecord } from '../../db/key-records.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentKey } from '../presentation/api-key.ts';
import { requireTenant } from './known-tenant.ts';
import { noSuchKey } from './list-keys.ts';
import { toAllowListChange } from './update-tenant.ts';

/**
 * What the jobs of one key may use, within what its tenant may. Throws `not_found` for an unknown tenant and for a key
 * that is not the tenant's, or `invalid_request` for a provider the gateway does not have.
 */
export async function updateKey(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue'>,
  {
    principal,
    change,
    ...id
  }: {
    readonly principal: Principal;
    readonly tenantId: string;
    readonly keyId: string;
    readonly change: ChangeAllowList;
  },
): Promise<ApiKey> {
  const { tenantId, keyId } = id;
  await requireTenant(dependencies, tenantId);
  if (!isStorable(keyId)) throw noSuchKey(id);
  const lists = toAllowListChange(dependencies, change);
  const fields = Object.keys(change);
  const key = await inTransaction(dependencies.db, async (client) => {
    if (!(await setKeyAllowList(client, id, lists))) throw noSuchKey(id);
    const entry = { act: 'allow_list.set', actor: principal.keyId, tenantId, subject: keyId } as const;
    if (fields.length > 0) await recordAudit(client, { ...entry, details: { fields } });
    return findKeyRecord(client, id);
  });
  if (key === null) throw noSuchKey(id);
  return presentKey(key);
}
