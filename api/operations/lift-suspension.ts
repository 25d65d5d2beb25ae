import { isStorable } from '../../contracts/metadata.ts';
import type { LiftSuspension } from '../../contracts/suspension.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { liftSuspension } from '../../db/suspensions.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentSuspension } from '../presentation/suspension.ts';
import { requireTenant } from './known-tenant.ts';
import { type KeptAnswer, once } from './once.ts';

export interface LiftRequest extends LiftSuspension {
  readonly principal: Principal;
  readonly tenantId: string;
  readonly suspensionId: string;
  readonly idempotency: IdempotentRequest | null;
}

/** Lets the scope submit again. One that was lifted before stays as it is. Throws `not_found`. */
export async function liftTenantSuspension(
  dependencies: Pick<ApiDependencies, 'db' | 'now'>,
  { principal, tenantId, suspensionId, reason, idempotency }: LiftRequest,
): Promise<KeptAnswer> {
  const { db, now } = dependencies;
  await requireTenant(dependencies, tenantId);
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const lift = { by: principal.keyId, reason, at: now() };
      const lifted = isStorable(suspensionId) ? await liftSuspension(client, { tenantId, suspensionId }, lift) : null;
      if (lifted === null) throw new GatewayError('not_found', 'The tenant has no such suspension.');
      const entry = { actor: principal.keyId, tenantId, subject: suspensionId };
      if (lifted.liftedAt?.getTime() === lift.at.getTime())
        await recordAudit(client, { ...entry, act: 'suspension.lifted' });
      return { status: 200, body: JSON.stringify(presentSuspension(lifted)) };
    }),
  );
}
