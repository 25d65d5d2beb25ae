import type { Amount } from './money.ts';

/** The open holds of a submission that is over, beside what the ledger says of it. */
export interface StrayMoney {
  readonly amounts: readonly Amount[];
  readonly drawn: readonly Amount[];
  readonly charged: Amount;
  /** Null where the ledger knows of no reservation. */
  readonly reserved: Amount | null;
  readonly wasReleased: boolean;
}

/**
 * Whether what is left of the holds may be given back: the ledger knows the reservation, has not given it back before,
 * and every hold was drawn on for exactly what was charged, as far as it reached. Money that does not add up stays held.
 */
export function mayReleaseStray({ amounts, drawn, charged, reserved, wasReleased }: StrayMoney): boolean {
  if (wasReleased || reserved === null || amounts.length === 0) return false;
  const covered = charged < reserved ? charged : reserved;
  return amounts.every((amount) => amount === reserved) && drawn.every((amount) => amount === covered);
}
