import type { CreateGatewayKey, CreateTenantKey } from '../../contracts/api-key.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { createKey, type NewKey } from '../../db/api-keys.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { findJobOwner } from '../../db/job-owner.ts';
import { findKeyRecord } from '../../db/key-records.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal, Role } from '../../domain/principal.ts';
import { SCOPES_OF, type Scope } from '../../domain/scope.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentKey } from '../presentation/api-key.ts';
import { requireTenant } from './known-tenant.ts';
import { type KeptAnswer, once } from './once.ts';
import { showOnce } from './show-once.ts';
import { toAllowListChange } from './update-tenant.ts';

interface Making {
  readonly principal: Principal;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Makes a key of a tenant and shows it, this once. Throws `not_found` for an unknown tenant, project or customer, or
 * `invalid_request` for a key whose parts do not fit its role, a time that has passed, or an unknown provider.
 */
export async function createTenantKey(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue' | 'now'>,
  { tenantId, wanted, ...making }: Making & { readonly tenantId: string; readonly wanted: CreateTenantKey },
): Promise<KeptAnswer> {
  await requireTenant(dependencies, tenantId);
  const {
    role,
    name,
    project_id: projectId,
    customer_id: customerId,
    scopes,
    expires_at: expiresAt,
    ...lists
  } = wanted;
  requireBinding(role, { project_id: projectId, customer_id: customerId });
  await requireOwners(dependencies, { tenantId, projectId, customerId });
  const { models = null, providers = null } = toAllowListChange(dependencies, lists);
  const owned = { tenantId, projectId, customerId, allowedModels: models, allowedProviders: providers };
  return make(dependencies, making, { role, name, ...limits(dependencies, role, scopes, expiresAt), ...owned });
}

/** Makes a key of the gateway itself and shows it, this once. Throws `invalid_request`. */
export async function createGatewayKey(
  dependencies: Pick<ApiDependencies, 'db' | 'now'>,
  { wanted, ...making }: Making & { readonly wanted: CreateGatewayKey },
): Promise<KeptAnswer> {
  const { role, name, scopes, expires_at: expiresAt } = wanted;
  return make(dependencies, making, { role, name, tenantId: null, ...limits(dependencies, role, scopes, expiresAt) });
}

async function make(
  { db }: Pick<ApiDependencies, 'db'>,
  { principal, idempotency }: Making,
  wanted: NewKey,
): Promise<KeptAnswer> {
  const { tenantId, role, scopes = [] } = wanted;
  return showOnce((show) =>
    inTransaction(db, (client) =>
      once(client, idempotency, async () => {
        const { keyId, key } = await createKey(client, wanted);
        const details = { role, scopes };
        await recordAudit(client, { act: 'key.created', actor: principal.keyId, tenantId, subject: keyId, details });
        const created = await findKeyRecord(client, { tenantId, keyId });
        if (created === null) throw new Error('an inserted key was not found');
        show(key);
        return { status: 201, body: JSON.stringify({ ...presentKey(created), key: null }) };
      }),
    ),
  );
}

function limits(
  { now }: Pick<ApiDependencies, 'now'>,
  role: Role,
  scopes: readonly Scope[],
  expiresAt: string | null,
): Pick<NewKey, 'scopes' | 'expiresAt'> {
  for (const [index, scope] of scopes.entries()) {
    if (SCOPES_OF[role].includes(scope)) continue;
    const message = `A key of the role ${role} cannot have the scope ${scope}. It may have ${SCOPES_OF[role].join(', ')}.`;
    throw new GatewayError('invalid_request', message, { field: `scopes[${index}]` });
  }
  const end = expiresAt === null ? null : new Date(expiresAt);
  if (end !== null && end <= now())
    throw new GatewayError('invalid_request', 'must be a time to come', { field: 'expires_at' });
  return { scopes, expiresAt: end };
}

/** A key is bound to what its role says, and may be narrowed by the other; a tenant's admin is of the whole tenant. */
function requireBinding(
  role: CreateTenantKey['role'],
  bound: { readonly project_id: string | null; readonly customer_id: string | null },
): void {
  const needed = { tenant_admin: null, project: 'project_id', customer: 'customer_id' } as const;
  const field = needed[role];
  if (field !== null && bound[field] === null)
    throw new GatewayError('invalid_request', `A key of the role ${role} needs its ${field}.`, { field });
  if (role !== 'tenant_admin') return;
  for (const name of ['project_id', 'customer_id'] as const) {
    if (bound[name] === null) continue;
    const message = `A key of the role tenant_admin is of the whole tenant. Leave ${name} out, or make a key of the role ${name === 'project_id' ? 'project' : 'customer'}.`;
    throw new GatewayError('invalid_request', message, { field: name });
  }
}

async function requireOwners(
  { db }: Pick<ApiDependencies, 'db'>,
  owner: { readonly tenantId: string; readonly projectId: string | null; readonly customerId: string | null },
): Promise<void> {
  const { tenantId } = owner;
  const storable = (id: string | null) => id === null || isStorable(id);
  const projectId = storable(owner.projectId) ? owner.projectId : '';
  const customerId = storable(owner.customerId) ? owner.customerId : '';
  const found = await findJobOwner(db.pool, { tenantId, projectId, customerId });
  if (found?.projectIsKnown !== true)
    throw new GatewayError('not_found', 'The tenant has no such project.', { field: 'project_id' });
  if (!found.customerIsKnown)
    throw new GatewayError('not_found', 'The tenant has no such customer.', { field: 'customer_id' });
}
