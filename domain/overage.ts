import type { Amount } from './money.ts';

/**
 * What happens to charges above a job's hold: `charge` passes them on, `cap` leaves them with the gateway, `suspend`
 * passes them on and lets the scope that overran start nothing new until an admin lifts that.
 */
export const OVERAGE_POLICIES = ['charge', 'cap', 'suspend'] as const;
export type OveragePolicy = (typeof OVERAGE_POLICIES)[number];

/** Of a tenant that nobody set one for. */
export const DEFAULT_OVERAGE_POLICY: OveragePolicy = 'charge';

/** What came of it at the job's end. */
export const OVERAGE_OUTCOMES = ['charged', 'absorbed', 'suspended'] as const;
export type OverageOutcome = (typeof OVERAGE_OUTCOMES)[number];

/** What a job cost above its hold when it ended, and who bears it. */
export interface Overage {
  readonly amount: Amount;
  readonly policy: OveragePolicy;
  readonly outcome: OverageOutcome;
}

const OUTCOME_OF: { readonly [policy in OveragePolicy]: OverageOutcome } = {
  charge: 'charged',
  cap: 'absorbed',
  suspend: 'suspended',
};

/** A job's whole charge, divided: what its hold covers, and what goes beyond. Throws RangeError below zero. */
export function splitCharge(reserved: Amount, charged: Amount): { readonly covered: Amount; readonly over: Amount } {
  if (reserved < 0n || charged < 0n) throw new RangeError('neither a hold nor a charge can be negative');
  return charged > reserved ? { covered: reserved, over: charged - reserved } : { covered: charged, over: 0n };
}

/** The end of a job's account: what stays charged to the tenant, and the overage if there is any. Once for a job. */
export function judgeOverage(
  reserved: Amount,
  charged: Amount,
  policy: OveragePolicy,
): { readonly charge: Amount; readonly overage: Overage | null } {
  const { covered, over } = splitCharge(reserved, charged);
  if (over === 0n) return { charge: charged, overage: null };
  const outcome = OUTCOME_OF[policy];
  return { charge: outcome === 'absorbed' ? covered : charged, overage: { amount: over, policy, outcome } };
}

/** Where money is limited. */
export interface SpendingScope {
  readonly scope: 'tenant' | 'project' | 'customer';
  readonly scopeId: string;
}

const NARROWEST_FIRST = ['customer', 'project', 'tenant'] as const;

/**
 * Which scopes a job's overage suspends: those whose budget it took past its limit; where none was, the narrowest that
 * has a budget; without budgets the narrowest the job belongs to. So a customer's overrun does not stop its tenant.
 */
export function chooseOverrunScopes(
  job: { readonly tenantId: string; readonly projectId: string | null; readonly customerId: string | null },
  budgets: readonly (SpendingScope & { readonly isPastLimit: boolean })[],
): SpendingScope[] {
  const past = budgets.filter(({ isPastLimit }) => isPastLimit);
  if (past.length > 0) return unique(past);
  for (const scope of NARROWEST_FIRST) {
    const own = budgets.filter((budget) => budget.scope === scope);
    if (own.length > 0) return unique(own);
  }
  if (job.customerId !== null) return [{ scope: 'customer', scopeId: job.customerId }];
  if (job.projectId !== null) return [{ scope: 'project', scopeId: job.projectId }];
  return [{ scope: 'tenant', scopeId: job.tenantId }];
}

function unique(scopes: readonly SpendingScope[]): SpendingScope[] {
  const byKey = new Map(scopes.map(({ scope, scopeId }) => [JSON.stringify([scope, scopeId]), { scope, scopeId }]));
  return [...byKey.values()];
}
