/** What a sweep may find, each a thing that something else should have done or that nobody else would see. */
export const FINDING_KINDS = [
  'job_without_workflow',
  'shard_without_workflow',
  'poll_overdue',
  'deadline_passed',
  'create_unanswered',
  'create_indeterminate',
  'held_without_job',
  'room_without_holder',
  'surplus_batch',
  'possible_surplus_batch',
  'ledger_difference',
  'webhook_undelivered',
  'task_without_workflow',
  'task_slots_wrong',
  'run_without_workflow',
  'document_without_progress',
  'deletion_overdue',
  'sweep_failed',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

export const FINDING_OUTCOMES = ['repaired', 'raised'] as const;
export type FindingOutcome = (typeof FINDING_OUTCOMES)[number];

/**
 * What a sweep did about a finding: `done` is known to have helped, `asked` woke whoever has to act, `nothing` leaves it
 * to an operator.
 */
export type Repair = 'done' | 'asked' | 'nothing';

/** Waking is a hope: what is found again on the same day has not been helped by it, and is an operator's to see. */
export function outcomeOf(repair: Repair, timesFound: number): FindingOutcome {
  if (repair === 'asked') return timesFound === 1 ? 'repaired' : 'raised';
  return repair === 'done' ? 'repaired' : 'raised';
}
