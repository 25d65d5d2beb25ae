import type { NewPrice } from '../../contracts/price-override.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { findPriceOverride, insertPriceOverride } from '../../db/price-overrides.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentPrice } from '../presentation/override.ts';
import { requireProvider } from './known-provider.ts';
import { requireNamedTenant } from './known-tenant.ts';
import { type KeptAnswer, once } from './once.ts';
import { toPriceRow } from './price-rows.ts';

export interface AddPriceRequest {
  readonly principal: Principal;
  readonly price: NewPrice;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Sets what a model costs, for one tenant or for all; jobs that were accepted keep their price. Throws `not_found` for
 * an unknown tenant, or `invalid_request` for a provider the gateway does not have.
 */
export async function addPrice(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue' | 'now'>,
  { principal, price, idempotency }: AddPriceRequest,
): Promise<KeptAnswer> {
  const { db, catalogue, now } = dependencies;
  const { tenant_id: tenantId = null, reason } = price;
  requireProvider(catalogue, price.provider, 'provider');
  await requireNamedTenant(dependencies, tenantId);
  const override = { tenantId, price: toPriceRow(price, now()), reason, createdBy: principal.keyId };
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const subject = await insertPriceOverride(client, override);
      await recordAudit(client, { act: 'price.added', actor: principal.keyId, tenantId, subject });
      const added = await findPriceOverride(client, subject);
      if (added === null) throw new Error('an inserted price was not found');
      return { status: 201, body: JSON.stringify(presentPrice(added)) };
    }),
  );
}
