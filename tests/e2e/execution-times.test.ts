import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANTHROPIC, GEMINI, OPENAI } from '../harness/chat-targets.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, type JobAnswer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { batchesAt } from '../harness/provider-calls.ts';
import { faultAt, prompts } from '../harness/provider-side.ts';
import { soundEnd, withStatus } from '../harness/sound-end.ts';

const MARK = '[[sim:usage=1000,100]]';
const PATIENT = { timeoutMs: 60_000 };

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterAll(() => gateway.stop());

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

test.concurrent.each([OPENAI, ANTHROPIC])(
  'a deadline cuts off a batch that stands still at $provider: what finished is kept and charged, the rest is expired and free',
  async (target) => {
    const stuck = { state: 'in_progress' as const, finished: 2 };
    await gateway.simulator.faults(faultAt(target.provider, 'batches.create', { stuck }));
    const jobId = await caller.submitPrompts(prompts(5, MARK), {
      model: target.model,
      execution: { deadline: inSeconds(10) },
    });
    const running = await eventually(async () => {
      const job = await caller.job(jobId);
      return job.status === 'running' ? job : null;
    }, PATIENT);
    expect(running.cancel).toBeNull();
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({
      status: 'expired',
      counts: { completed: 2, expired: 3, cancelled: 0, failed: 0 },
      failures: { expired: 3 },
      cancel: null,
    });
    expect(Number(job.cost.settled)).toBeCloseTo(2 * Number(target.costOf1000And100), 9);
    for (const row of withStatus(rows, 'expired')) {
      expect(row).toMatchObject({ cost: '0.00', error: { class: 'expired', code: 'deadline' } });
    }
    const ledger = await caller.ledger(jobId);
    expect([ledger.has('batch.expired'), ledger.has('batch.cancel_requested')]).toEqual([true, false]);
    expect(await batchesAt(gateway, jobId)).toHaveLength(1);
  },
);

test.concurrent('a job is held back until its time, with its money held, and then runs', async () => {
  const notBefore = inSeconds(6);
  const jobId = await caller.submitPrompts(prompts(2), { model: GEMINI.model, execution: { not_before: notBefore } });
  const held = await eventually(async () => {
    const job = await caller.job(jobId);
    return job.waiting?.reason === 'not_before' ? job : null;
  }, PATIENT);
  expect(held.status).toBe('queued');
  expect(held.cost.held).toBe(held.cost.reserved);
  expect(await batchesAt(gateway, jobId)).toEqual([]);
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', waiting: null });
  const ledger = await caller.ledger(jobId);
  expect(Date.parse(ledger.get('batch.submitted')?.created_at ?? '')).toBeGreaterThanOrEqual(Date.parse(notBefore));
});

interface ScheduleAnswer {
  schedule_id: string;
  next_runs: string[] | null;
  runs: { job_id: string | null; outcome: string | null; error: { code: string } | null }[];
}

test.concurrent('a schedule fires and makes one job of what its URL holds, by the clock of Temporal', async () => {
  const request = { messages: [{ role: 'user', content: 'hello' }], max_tokens: 20 };
  const body = ['row_1', 'row_2'].map((custom_id) => `${JSON.stringify({ custom_id, request })}\n`).join('');
  const server = createServer((_request, response) => response.end(body));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  try {
    const { port } = server.address() as AddressInfo;
    const made = await caller.call<ScheduleAnswer>('POST', '/v1/batch-schedules', {
      name: 'hourly',
      schedule: { every_seconds: 3_600 },
      job: { endpoint: 'chat.completions', model: GEMINI.model, name: 'from the schedule' },
      items: { items_url: `http://127.0.0.1:${port}/items` },
    });
    expect(made.next_runs).toHaveLength(5);
    const path = `/v1/batch-schedules/${made.schedule_id}`;
    await caller.call('POST', `${path}/run`, {});
    const run = await eventually(async () => {
      const { runs } = await caller.call<ScheduleAnswer>('GET', path);
      return runs[0]?.outcome == null ? null : runs[0];
    }, PATIENT);
    expect(run).toMatchObject({ outcome: 'submitted', error: null });
    const { job } = await soundEnd(gateway, caller, run.job_id ?? '');
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 } });
    const { data } = await caller.call<{ data: (JobAnswer & { name: string })[] }>('GET', '/v1/batch-jobs');
    expect(data.filter(({ name }) => name === 'from the schedule')).toHaveLength(1);
    await caller.call('DELETE', path);
  } finally {
    server.close();
  }
});

test.concurrent('local times that a change of the clock leaves out are skipped, as next runs show', async () => {
  const nextOf = async (schedule: Record<string, unknown>) => {
    const made = await caller.call<ScheduleAnswer>('POST', '/v1/batch-schedules', {
      name: 'clock',
      schedule,
      job: { endpoint: 'chat.completions', model: GEMINI.model },
      items: { items_url: 'https://items.example/' },
    });
    await caller.call('DELETE', `/v1/batch-schedules/${made.schedule_id}`);
    if (made.next_runs === null) throw new Error('the next runs could not be told');
    return made.next_runs;
  };
  const zone = 'Europe/Berlin';
  // On the last Sunday of March the clock goes from 2 to 3 in the morning, and back on the last one of October.
  const inTheGap = await nextOf({
    calendar: {
      hours: [2],
      minutes: [30],
      days_of_month: [25, 26, 27, 28, 29, 30, 31],
      months: [3],
      days_of_week: ['sunday'],
    },
    time_zone: zone,
  });
  expect(inTheGap).toEqual([]);
  const monthly = await nextOf({ cron: '0 9 15 1,7 *', time_zone: zone });
  expect(monthly.map((time) => time.slice(5, 16))).toEqual(
    monthly.map((time) => (time.slice(5, 7) === '01' ? '01-15T08:00' : '07-15T07:00')),
  );
  expect(new Set(monthly.map((time) => time.slice(5, 7)))).toEqual(new Set(['01', '07']));
});
