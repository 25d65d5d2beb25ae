import { expect } from 'vitest';
import type { Fault } from '../../simulators/faults.ts';
import { type ChatTarget, OPENAI } from './chat-targets.ts';
import { eventually } from './eventually.ts';
import type { Caller, JobAnswer, ResultRow, TestGateway } from './gateway.ts';
import { batchAt, type ShownBatch } from './provider-calls.ts';
import { faultAt, prompts } from './provider-side.ts';

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
  scene: { total: number; finished: number; end?: Fault['action']['end_state']; mark?: string },
  { provider, model, showsProgress }: ChatTarget = OPENAI,
): Promise<string> {
  const { total, finished, end, mark } = scene;
  const stuck = { state: 'in_progress' as const, finished };
  const action = { stuck, ...(end !== undefined && { end_state: end }) };
  await gateway.simulator.faults(faultAt(provider, 'batches.create', action));
  const jobId = await caller.submitPrompts(prompts(total, mark), { model });
  await eventually(async () => {
    const { status, progress } = await caller.job(jobId);
    return status === 'running' && (!showsProgress || progress?.completed === finished);
  });
  return jobId;
}

/** A job whose one batch waits at its provider until it is let go, so that faults can name it beforehand. */
export interface HeldJob extends ShownBatch {
  readonly jobId: string;
  letGo(): Promise<unknown>;
}

export async function submitHeld(
  gateway: TestGateway,
  caller: Caller,
  texts: readonly string[],
  { provider, model }: ChatTarget = OPENAI,
): Promise<HeldJob> {
  const { simulator } = gateway;
  await simulator.faults(faultAt(provider, 'batches.create', { stuck: { state: 'in_progress', finished: 0 } }));
  const jobId = await caller.submitPrompts(texts, { model });
  const batch = await batchAt(gateway, jobId);
  return { ...batch, jobId, letGo: () => simulator.batch(batch.id, { stuck: null }) };
}

/**
 * Submits a job of `total` chat requests whose batch answers with the given lines alone; `id(n)` is what the provider
 * knows `row_n` as.
 */
export async function submitAnswered(
  gateway: TestGateway,
  caller: Caller,
  total: number,
  write: (id: (row: number) => string) => string[],
  target: ChatTarget = OPENAI,
): Promise<string> {
  const { jobId, token, letGo } = await submitHeld(gateway, caller, prompts(total), target);
  const lines = write((row) => `${token}-${row}`);
  const answer = { omit_lines: {}, append_raw_lines: lines };
  await gateway.simulator.faults(faultAt(target.provider, 'batch:results', answer));
  await letGo();
  return jobId;
}
