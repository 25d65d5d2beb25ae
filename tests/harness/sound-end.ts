import { expect } from 'vitest';
import type { Fault } from '../../simulators/faults.ts';
import { eventually } from './eventually.ts';
import type { Caller, JobAnswer, ResultRow, TestGateway } from './gateway.ts';
import { batchOf, openai, prompts } from './provider-side.ts';

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

/**
 * Submits a job of `total` chat requests whose batch answers with the given lines alone; `id(n)` is what the provider
 * knows `row_n` as.
 */
export async function submitAnswered(
  gateway: TestGateway,
  caller: Caller,
  total: number,
  write: (id: (row: number) => string) => string[],
  options: Record<string, unknown> = {},
): Promise<string> {
  const { simulator } = gateway;
  await simulator.faults(openai('batches.create', { stuck: { state: 'in_progress', finished: 0 } }));
  const jobId = await caller.submitPrompts(prompts(total), options);
  const batch = await batchOf(gateway, jobId);
  const token = batch.metadata?.batchgate_attempt;
  const lines = write((row) => `${token}-${row}`);
  await simulator.faults(openai('batch:results', { omit_lines: {}, append_raw_lines: lines }));
  await simulator.batch(batch.id, { stuck: null });
  return jobId;
}

/** A result line of OpenAI with status 200. */
export function resultLine(customId: string, body: unknown): string {
  return JSON.stringify({ id: 'batch_req_1', custom_id: customId, response: { status_code: 200, body }, error: null });
}

/** A chat completion with a given text, finish reason and usage. */
export function completion({
  text = 'done',
  stop = 'stop',
  usage,
}: {
  text?: string | null;
  stop?: string;
  usage?: unknown;
}) {
  const message = { role: 'assistant', content: text };
  const choices = [{ index: 0, message, finish_reason: stop }];
  return { id: 'chatcmpl-1', object: 'chat.completion', model: 'gpt-4o-mini', choices, usage };
}
