import type { Suspension as PublicSuspension } from '../../contracts/suspension.ts';
import type { Suspension } from '../../db/suspensions.ts';
import { formatAmount } from '../../domain/money.ts';
import { presentTime } from './time.ts';

export function presentSuspension(suspension: Suspension): PublicSuspension {
  return {
    suspension_id: suspension.suspensionId,
    tenant_id: suspension.tenantId,
    scope: suspension.scope,
    scope_id: suspension.scopeId,
    job_id: suspension.jobId,
    overage: formatAmount(suspension.overage),
    currency: suspension.currency,
    created_at: suspension.createdAt.toISOString(),
    lifted_at: presentTime(suspension.liftedAt),
    lifted_by: suspension.liftedBy,
    lift_reason: suspension.liftReason,
  };
}
