import type pg from 'pg';
import { requireActiveAccount } from '../../db/account-standing.ts';
import { findJobOwner, type JobOwner } from '../../db/job-owner.ts';
import type { JobScope } from '../../db/job-scope.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { tenantScope } from './owned-job.ts';

/** Whose a new job is. Throws `not_found` for a project or customer the key may not use, or `tenant_suspended`. */
export async function requireJobOwner(
  client: pg.PoolClient,
  principal: Principal,
  asked: { readonly project_id?: string | null | undefined; readonly customer_id?: string | null | undefined },
): Promise<{ readonly owner: JobScope; readonly currency: string }> {
  const scope = tenantScope(principal);
  const owner = {
    tenantId: scope.tenantId,
    projectId: ownId('project_id', scope.projectId, asked.project_id ?? null),
    customerId: ownId('customer_id', scope.customerId, asked.customer_id ?? null),
  };
  const { currency } = requireKnown(await findJobOwner(client, owner));
  await requireActiveAccount(client, owner);
  return { owner, currency };
}

/** A key bound to a project or customer works for that one alone, named or not. */
function ownId(field: string, bound: string | null, asked: string | null): string | null {
  if (bound === null) return asked;
  if (asked !== null && asked !== bound) throw unknownOwner(field);
  return bound;
}

function requireKnown(owner: JobOwner | null): JobOwner {
  if (owner === null) throw new Error('a key belongs to a tenant that is not there');
  if (!owner.projectIsKnown) throw unknownOwner('project_id');
  if (!owner.customerIsKnown) throw unknownOwner('customer_id');
  return owner;
}

function unknownOwner(field: string): GatewayError {
  return new GatewayError('not_found', `There is no such ${field} that your key may use.`, { field });
}
