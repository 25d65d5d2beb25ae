/** How far ahead a job may set its own end, and its own beginning. */
const MAX_DEADLINE_AHEAD_MS = 60 * 24 * 3_600_000;
const MAX_NOT_BEFORE_AHEAD_MS = 30 * 24 * 3_600_000;

/** A timer that rings a moment early would find its time not come yet, and would have to be set again. */
const TIMER_SLACK_MS = 20;

/** The times a job sets for itself; null where it sets none. */
export interface ExecutionTimes {
  /** When open work is cut off. */
  readonly deadline: Date | null;
  /** Before this nothing is sent. One that is past holds nothing back. */
  readonly notBefore: Date | null;
}

export interface TimeFault {
  readonly code: 'invalid_request' | 'deadline_passed';
  readonly field: 'execution.deadline' | 'execution.not_before';
  readonly message: string;
}

/** What is wrong with the times of a job that is being made; null when nothing is. */
export function findTimeFault({ deadline, notBefore }: ExecutionTimes, at: Date): TimeFault | null {
  const code = 'invalid_request';
  if (deadline !== null && deadline <= at)
    return {
      code: 'deadline_passed',
      field: 'execution.deadline',
      message: 'The deadline has passed. Set one in the future, or none.',
    };
  if (isBeyond(deadline, at, MAX_DEADLINE_AHEAD_MS))
    return { code, field: 'execution.deadline', message: 'The deadline is more than 60 days ahead.' };
  if (isBeyond(notBefore, at, MAX_NOT_BEFORE_AHEAD_MS))
    return { code, field: 'execution.not_before', message: 'not_before is more than 30 days ahead.' };
  if (deadline !== null && notBefore !== null && notBefore >= deadline)
    return { code, field: 'execution.not_before', message: 'not_before must lie before the deadline.' };
  return null;
}

function isBeyond(time: Date | null, at: Date, maxAheadMs: number): boolean {
  return time !== null && time.getTime() - at.getTime() > maxAheadMs;
}

interface Stoppable extends Pick<ExecutionTimes, 'deadline'> {
  readonly cancelRequestedAt: Date | null;
}

/** Why no more of a job is to be sent, or to go on at a provider: whichever came first. Null while nothing says so. */
export type StopReason = 'cancelled' | 'deadline';

export function stopReason({ cancelRequestedAt, deadline }: Stoppable, at: Date): StopReason | null {
  const isPast = deadline !== null && deadline <= at;
  if (cancelRequestedAt !== null) return isPast && deadline < cancelRequestedAt ? 'deadline' : 'cancelled';
  return isPast ? 'deadline' : null;
}

/** How long the job's shards are still held back, in milliseconds; 0 when they are not. A job to be stopped holds none. */
export function heldForMs(job: Stoppable & Pick<ExecutionTimes, 'notBefore'>, at: Date): number {
  if (job.notBefore === null || job.notBefore <= at || stopReason(job, at) !== null) return 0;
  return job.notBefore.getTime() - at.getTime() + TIMER_SLACK_MS;
}

/** A wait that ends no later than the deadline, so that the shard finds out in time. Once it has passed nothing is cut. */
export function untilDeadline({ deadline }: Pick<ExecutionTimes, 'deadline'>, delayMs: number, at: Date): number {
  if (deadline === null || deadline <= at) return delayMs;
  return Math.min(delayMs, deadline.getTime() - at.getTime() + TIMER_SLACK_MS);
}

/** Whether a batch that ended as cancelled was cut off by the deadline of its job: it ended no sooner than that passed. */
export function isCutByDeadline(job: Stoppable, batchEndedAt: Date | null): boolean {
  return batchEndedAt !== null && stopReason(job, batchEndedAt) === 'deadline';
}
