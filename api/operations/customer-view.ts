import type { JobRecord } from '../../db/job-view.ts';
import type { Principal } from '../../domain/principal.ts';

/** Whether the caller is a partner's customer, who is shown its own prices and never what its tenant pays. */
export function isCustomer(principal: Principal): boolean {
  return principal.role === 'customer';
}

/**
 * The job as the caller may see it: for a customer with a price list or a markup its money is in those. Overage, and what
 * a hold could not cover, is between its tenant and the gateway.
 */
export function asShownTo(principal: Principal, job: JobRecord): JobRecord {
  const { customerMoney } = job;
  if (!isCustomer(principal) || customerMoney === null) return job;
  const { estimated, reserved, held, settled } = customerMoney;
  return {
    ...job,
    estimatedAmount: estimated,
    reservedAmount: reserved,
    heldAmount: held,
    settledAmount: settled,
    overage: null,
    warnings: job.warnings.map(withoutAmounts),
  };
}

function withoutAmounts(warning: unknown): unknown {
  if (typeof warning !== 'object' || warning === null) return warning;
  return Object.fromEntries(Object.entries(warning).filter(([name]) => name !== 'needed' && name !== 'left'));
}
