import type { BatchJob } from '../contracts/job.ts';

const END_STATES: readonly BatchJob['status'][] = [
  'completed',
  'completed_with_errors',
  'expired',
  'cancelled',
  'failed',
];

export function hasEnded({ status }: BatchJob): boolean {
  return END_STATES.includes(status);
}

/** A submit that was refused after its answer: the job is a draft again. */
export function wasRefused({ status, refusal }: BatchJob): boolean {
  return status === 'draft' && refusal !== null;
}

/** Items that have settled, however they ended. */
export function settledItems({ counts }: BatchJob): number {
  return counts.completed + counts.failed + counts.expired + counts.cancelled;
}

/** Items done as far as anyone knows: settled, or by the provider's own word, which is only a hint. */
export function doneItems(job: BatchJob): number {
  const hint = (job.progress?.completed ?? 0) + (job.progress?.failed ?? 0);
  return Math.min(job.counts.total, Math.max(settledItems(job), hint));
}

/** A whole number, 100 only when nothing is left. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.floor((part / whole) * 100);
}

/** `1,140 completed, 3 failed`: what has settled, without what is none. */
export function describeCounts({ counts }: BatchJob, format: (value: number) => string = String): string {
  const { completed, failed, expired, cancelled } = counts;
  const others = Object.entries({ failed, expired, cancelled }).filter(([, value]) => value > 0);
  return [['completed', completed] as const, ...others].map(([name, value]) => `${format(value)} ${name}`).join(', ');
}
