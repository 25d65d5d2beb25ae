import type { ChangePolicy, TenantPolicy as PublicPolicy } from '../../contracts/tenant-policy.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { setTenantPolicy } from '../../db/tenants.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Principal } from '../../domain/principal.ts';
import { DEFAULT_TENANT_POLICY, readTenantPolicy } from '../../domain/tenant-policy.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentPolicy } from '../presentation/tenant-policy.ts';
import { requireTenant } from './known-tenant.ts';

type Dependencies = Pick<ApiDependencies, 'db'>;

/** What a tenant is allowed, and what it would be without settings of its own. Throws `not_found`. */
export async function getPolicy(
  dependencies: Dependencies,
  { tenantId }: { readonly tenantId: string },
): Promise<PublicPolicy> {
  const { policy } = await requireTenant(dependencies, tenantId);
  return {
    tenant_id: tenantId,
    policy: presentPolicy(readTenantPolicy(policy)),
    defaults: presentPolicy(DEFAULT_TENANT_POLICY),
  };
}

/** Sets some members; the others stay. Throws `not_found`. */
export async function changePolicy(
  dependencies: Dependencies,
  {
    principal,
    tenantId,
    change,
  }: { readonly principal: Principal; readonly tenantId: string; readonly change: ChangePolicy },
): Promise<PublicPolicy> {
  await requireTenant(dependencies, tenantId);
  const fields = Object.keys(change);
  if (fields.length > 0) {
    await inTransaction(dependencies.db, async (client) => {
      await setTenantPolicy(client, tenantId, { ...change });
      const entry = { act: 'policy.changed', actor: principal.keyId, tenantId, subject: tenantId } as const;
      await recordAudit(client, { ...entry, details: { fields } });
    });
  }
  return getPolicy(dependencies, { tenantId });
}
