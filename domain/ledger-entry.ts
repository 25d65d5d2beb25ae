import { JOB_KINDS, type JobKind } from './job-kind.ts';
import type { Amount } from './money.ts';

const LEDGER_ACTS = [
  'estimated',
  'reserved',
  'submitted',
  'item.settled',
  'item.refunded',
  'cancel_requested',
  'expired',
  'reconciled',
  'released',
  'overage',
  'adjusted',
] as const;
/** What can happen to the money of a job of any kind. */
export type LedgerAct = (typeof LEDGER_ACTS)[number];

/** Every event about money, the same acts for batches, tasks and documents. The list is closed. */
export type LedgerEvent = `${JobKind}.${LedgerAct}`;
export const LEDGER_EVENTS: readonly LedgerEvent[] = JOB_KINDS.flatMap((kind) =>
  LEDGER_ACTS.map((act) => ledgerEvent(kind, act)),
);

/** The name under which an act is on record. */
export function ledgerEvent(kind: JobKind, act: LedgerAct): LedgerEvent {
  return `${kind}.${act}`;
}

/** The money of one job. */
export interface Holding {
  readonly reserved: Amount;
  /** Charged beyond what was reserved. */
  readonly overage: Amount;
  readonly settled: Amount;
  readonly released: Amount;
  readonly held: Amount;
}

/** The law of every job at every moment: what came in is what went out and what is left, none of it negative. */
export function lawHolds({ reserved, overage, settled, released, held }: Holding): boolean {
  const none = [reserved, overage, settled, released, held].every((amount) => amount >= 0n);
  return none && reserved + overage === settled + released + held;
}

/**
 * How a charge falls on a hold: `draw` comes out of it as far as it reaches, `over` goes beyond. Throws RangeError for
 * a negative charge or a hold drawn past its amount.
 */
export function drawHold(
  hold: { readonly amount: Amount; readonly drawn: Amount },
  charge: Amount,
): { readonly draw: Amount; readonly over: Amount } {
  const left = hold.amount - hold.drawn;
  if (charge < 0n || left < 0n) throw new RangeError('neither a charge nor what is left of a hold can be negative');
  const draw = charge < left ? charge : left;
  return { draw, over: charge - draw };
}
