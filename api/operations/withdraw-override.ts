import type { CapabilityOverride } from '../../contracts/capability-override.ts';
import type { PriceOverride } from '../../contracts/price-override.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { findCapabilityOverride, withdrawCapabilityOverride } from '../../db/capability-overrides.ts';
import { toUuid } from '../../db/ids.ts';
import { findPriceOverride, withdrawPriceOverride } from '../../db/price-overrides.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentCapability, presentPrice } from '../presentation/override.ts';

type Dependencies = Pick<ApiDependencies, 'db'>;

export interface WithdrawRequest {
  readonly principal: Principal;
  readonly overrideId: string;
}

/** No verdict heeds the price from now on; one that was withdrawn before is answered as it is. Throws `not_found`. */
export async function withdrawPrice({ db }: Dependencies, request: WithdrawRequest): Promise<PriceOverride> {
  const { overrideId, principal } = request;
  if (toUuid('priceOverride', overrideId) === null) throw noSuchOverride();
  return inTransaction(db, async (client) => {
    const before = await findPriceOverride(client, overrideId);
    const withdrawn = await withdrawPriceOverride(client, overrideId, principal.keyId);
    if (withdrawn === null) throw noSuchOverride();
    const entry = {
      act: 'price.withdrawn',
      actor: principal.keyId,
      tenantId: withdrawn.tenantId,
      subject: overrideId,
    } as const;
    if (before?.withdrawnAt === null) await recordAudit(client, entry);
    return presentPrice(withdrawn);
  });
}

/** The same for what was said of models. */
export async function withdrawCapability({ db }: Dependencies, request: WithdrawRequest): Promise<CapabilityOverride> {
  const { overrideId, principal } = request;
  if (toUuid('capabilityOverride', overrideId) === null) throw noSuchOverride();
  return inTransaction(db, async (client) => {
    const before = await findCapabilityOverride(client, overrideId);
    const withdrawn = await withdrawCapabilityOverride(client, overrideId, principal.keyId);
    if (withdrawn === null) throw noSuchOverride();
    const entry = {
      act: 'capability.withdrawn',
      actor: principal.keyId,
      tenantId: withdrawn.tenantId,
      subject: overrideId,
    } as const;
    if (before?.withdrawnAt === null) await recordAudit(client, entry);
    return presentCapability(withdrawn);
  });
}

function noSuchOverride(): GatewayError {
  return new GatewayError('not_found', 'No such override.');
}
