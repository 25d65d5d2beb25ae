import type { LegalHold, LegalHoldList, LegalHoldQuery, SetLegalHold } from '../../contracts/legal-hold.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { findCustomer } from '../../db/customers.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { findJobRow } from '../../db/job-rows.ts';
import { findHold, insertHold, liftHold, listHolds, type LegalHold as StoredHold } from '../../db/legal-holds.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTime } from '../presentation/time.ts';
import { requireTenant } from './known-tenant.ts';
import { type KeptAnswer, once } from './once.ts';
import { pageById } from './page-by-id.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now'>;

export interface HoldRequest {
  readonly tenantId: string;
  readonly holdId: string;
}

/**
 * Nothing of the content of the job, the customer or the tenant is deleted from now on. What was deleted stays so. Throws
 * `not_found` for what the tenant does not have.
 */
export async function setHold(
  dependencies: Dependencies,
  request: {
    readonly principal: Principal;
    readonly tenantId: string;
    readonly wanted: SetLegalHold;
    readonly idempotency: IdempotentRequest | null;
  },
): Promise<KeptAnswer> {
  const { db, now } = dependencies;
  const { principal, tenantId, wanted, idempotency } = request;
  await requireTenant(dependencies, tenantId);
  await requireSubject(dependencies, tenantId, wanted);
  const hold = {
    holdId: newId('legalHold'),
    tenantId,
    customerId: wanted.customer_id ?? null,
    jobId: wanted.job_id ?? null,
    reason: wanted.reason,
    setBy: principal.keyId,
    setAt: now(),
  };
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      await insertHold(client, hold);
      await recordAudit(client, { act: 'legal_hold.set', actor: principal.keyId, tenantId, ...subjectOf(hold) });
      return { status: 201, body: JSON.stringify(present({ ...hold, liftedAt: null, liftedBy: null })) };
    }),
  );
}

/** Those that stand, or all. Throws `not_found`. */
export async function listTenantHolds(
  dependencies: Dependencies,
  { tenantId, lifted, ...wish }: LegalHoldQuery & { readonly tenantId: string },
): Promise<LegalHoldList> {
  await requireTenant(dependencies, tenantId);
  const withLifted = lifted === 'include';
  return pageById('legal_holds', wish, (page) => listHolds(dependencies.db.pool, tenantId, { ...page, withLifted }), {
    idOf: ({ holdId }) => holdId,
    present,
  });
}

/** Content that only this hold kept is deleted by what comes next. One that is lifted stays as it is. Throws `not_found`. */
export async function releaseHold(
  dependencies: Dependencies,
  { principal, tenantId, holdId }: HoldRequest & { readonly principal: Principal },
): Promise<LegalHold> {
  const { db, now } = dependencies;
  await requireTenant(dependencies, tenantId);
  if (!isStorable(holdId)) throw noSuchHold();
  return inTransaction(db, async (client) => {
    const hold = await findHold(client, tenantId, holdId);
    if (hold === null) throw noSuchHold();
    if (await liftHold(client, { holdId, liftedBy: principal.keyId, now: now() }))
      await recordAudit(client, { act: 'legal_hold.lifted', actor: principal.keyId, tenantId, ...subjectOf(hold) });
    return present((await findHold(client, tenantId, holdId)) ?? hold);
  });
}

async function requireSubject({ db }: Dependencies, tenantId: string, wanted: SetLegalHold): Promise<void> {
  const { job_id: jobId, customer_id: customerId } = wanted;
  if (jobId !== undefined) {
    const job = await findJobRow(db.pool, jobId);
    if (job?.tenantId !== tenantId)
      throw new GatewayError('not_found', 'The tenant has no such job.', { field: 'job_id' });
  }
  if (customerId !== undefined) {
    const customer = isStorable(customerId) ? await findCustomer(db.pool, tenantId, customerId) : null;
    if (customer === null)
      throw new GatewayError('not_found', 'The tenant has no such customer.', { field: 'customer_id' });
  }
}

function subjectOf({ holdId, jobId, customerId }: Pick<StoredHold, 'holdId' | 'jobId' | 'customerId'>) {
  return {
    subject: holdId,
    details: {
      ...(jobId !== null && { job_id: jobId }),
      ...(customerId !== null && { customer_id: customerId }),
    },
  };
}

function present(hold: StoredHold): LegalHold {
  return {
    hold_id: hold.holdId,
    tenant_id: hold.tenantId,
    customer_id: hold.customerId,
    job_id: hold.jobId,
    reason: hold.reason,
    set_by: hold.setBy,
    set_at: hold.setAt.toISOString(),
    lifted_at: presentTime(hold.liftedAt),
    lifted_by: hold.liftedBy,
  };
}

function noSuchHold(): GatewayError {
  return new GatewayError('not_found', 'The tenant has no such legal hold.');
}
