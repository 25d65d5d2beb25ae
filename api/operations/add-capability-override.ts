import type { NewCapability } from '../../contracts/capability-override.ts';
import { toFeature } from '../../contracts/feature.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { findCapabilityOverride, insertCapabilityOverride } from '../../db/capability-overrides.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ProviderProfile } from '../../domain/catalogue.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Endpoint } from '../../domain/provider.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentCapability } from '../presentation/override.ts';
import { requireProvider } from './known-provider.ts';
import { requireNamedTenant } from './known-tenant.ts';
import { type KeptAnswer, once } from './once.ts';

export interface AddCapabilityRequest {
  readonly principal: Principal;
  readonly capability: NewCapability;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Says against the matrix what models may or may not do in batch mode. Throws `not_found` for an unknown tenant, or
 * `invalid_request` for a provider the gateway does not have or an endpoint the provider's batches do not run.
 */
export async function addCapabilityOverride(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue'>,
  { principal, capability, idempotency }: AddCapabilityRequest,
): Promise<KeptAnswer> {
  const { db, catalogue } = dependencies;
  const { tenant_id: tenantId = null, provider, endpoint, model, feature = null, reason } = capability;
  requireCovered(requireProvider(catalogue, provider, 'provider'), endpoint);
  await requireNamedTenant(dependencies, tenantId);
  const override = {
    tenantId,
    provider,
    endpoint,
    model,
    feature: feature === null ? null : toFeature(feature),
    isAllowed: capability.is_allowed,
    reason,
    createdBy: principal.keyId,
  };
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const subject = await insertCapabilityOverride(client, override);
      await recordAudit(client, { act: 'capability.added', actor: principal.keyId, tenantId, subject });
      const added = await findCapabilityOverride(client, subject);
      if (added === null) throw new Error('an inserted capability was not found');
      return { status: 201, body: JSON.stringify(presentCapability(added)) };
    }),
  );
}

/** What is said of an endpoint the matrix does not have would change nothing: no limits are known. */
function requireCovered({ provider, capabilities }: ProviderProfile, endpoint: Endpoint): void {
  if (capabilities.some((row) => row.endpoint === endpoint)) return;
  const known = [...new Set(capabilities.map((row) => row.endpoint))].join(', ');
  const message = `Batches on ${provider} do not run ${endpoint}, which no override can change. They run ${known}.`;
  throw new GatewayError('invalid_request', message, { field: 'endpoint' });
}
