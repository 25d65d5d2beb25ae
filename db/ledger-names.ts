import { JOB_KINDS } from '../domain/job-kind.ts';
import { type LedgerAct, ledgerEvent } from '../domain/ledger-entry.ts';

/** SQL list of the names under which acts are on record, of jobs of every kind. */
export function namesOf(...acts: readonly LedgerAct[]): string {
  return `(${JOB_KINDS.flatMap((kind) => acts.map((act) => `'${ledgerEvent(kind, act)}'`)).join(', ')})`;
}

/** SQL of the name of an act of the job in `batch_jobs` j. */
export function nameOf(act: LedgerAct): string {
  return `j.kind || '.${act}'`;
}
