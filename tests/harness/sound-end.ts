import { expect } from 'vitest';
import type { Fault } from '../../simulators/faults.ts';
import { eventually } from './eventually.ts';
import type { Caller, JobAnswer, ResultRow, TestGateway } from './gateway.ts';
import { openai, prompts } from './provider-side.ts';

/**
 * Waits for the end of a job of `row_1`, `row_2`, … and sees that it is sound: money adds up, nothing is held any more,
 * and every item ended exactly once.
 */
export async function soundEnd(
  gateway: TestGateway,
  caller: Caller,
  jobId: string,
): Promise<{ job: JobAnswer; rows: ResultRow[] }> {
  const job = await caller.ended(jobId, 60_000);
  await gateway.expectSound(jobId);
  expect(job.cost.held).toBe('0.00');
  const { completed, failed, expired, cancelled, total } = job.counts;
  expect(completed + failed + expired + cancelled).toBe(total);
  const rows = await caller.results(jobId);
  const ids = Array.from({ length: total }, (_, index) => `row_${index + 1}`);
  expect(rows.map((row) => row.custom_id).toSorted()).toEqual(ids.toSorted());
  for (const status of ['completed', 'failed', 'expired', 'cancelled'] as const) {
    expect(withStatus(rows, status)).toHaveLength(job.counts[status]);
  }
  return { job, rows: rows.toSorted((a, b) => numberOf(a) - numberOf(b)) };
}

export function withStatus(rows: readonly ResultRow[], status: string): ResultRow[] {
  return rows.filter((row) => row.status === status);
}

function numberOf({ custom_id: customId }: ResultRow): number {
  return Number(customId.slice('row_'.length));
}

/** Submits prompts as one batch that stays in progress with `finished` of them done, and waits until the job shows it. */
export async function submitHalfDone(
  gateway: TestGateway,
  caller: Caller,
  { total, finished, end }: { total: number; finished: number; end?: Fault['action']['end_state'] },
): Promise<string> {
  const stuck = { state: 'in_progress' as const, finished };
  await gateway.simulator.faults(openai('batches.create', { stuck, ...(end !== undefined && { end_state: end }) }));
  const jobId = await caller.submitPrompts(prompts(total));
  await eventually(async () => {
    const { status, progress } = await caller.job(jobId);
    return status === 'running' && progress?.completed === finished;
  });
  return jobId;
}
