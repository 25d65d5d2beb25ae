import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createControl } from '../../simulators/control-client.ts';
import { eventually } from '../harness/eventually.ts';
import { Caller } from '../harness/gateway.ts';
import { openai, prompts } from '../harness/provider-side.ts';

const CLI = join(import.meta.dirname, '..', '..', 'cli', 'main.ts');
const ITEMS = process.env['BATCHGATE_ACCEPTANCE'] === 'short' ? 200 : 2_000;
const STUCK = { stuck: { state: 'in_progress' as const, finished: 1 } };

interface Ready {
  api_url: string;
  tenant_key: string;
  operator_key: string;
  simulators: { control_url: string };
}

interface Up {
  readonly process: ChildProcess;
  readonly ready: Ready;
  readonly caller: Caller;
  readonly operator: Caller;
  readonly simulator: ReturnType<typeof createControl>;
  /** Resolves with the exit code, null after a signal. */
  end(signal: 'SIGINT' | 'SIGKILL'): Promise<number | null>;
}

let folder: string;
let running: Up;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchgate-restart-'));
  running = await up();
}, 180_000);

afterAll(async () => {
  await running.end('SIGINT');
  await rm(folder, { recursive: true, force: true });
}, 120_000);

async function up(): Promise<Up> {
  const args = [CLI, 'up', '--port', '0', '--data', join(folder, 'data'), '--json'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([first]) => String(first)),
    ended.then(() => {
      throw new Error('`up` ended before it was ready');
    }),
  ]);
  const ready = JSON.parse(line) as Ready;
  return {
    process: child,
    ready,
    caller: new Caller(ready.api_url, ready.tenant_key),
    operator: new Caller(ready.api_url, ready.operator_key),
    simulator: createControl(ready.simulators.control_url),
    end: async (signal) => {
      child.kill(signal);
      return (await ended)[0];
    },
  };
}

/** A job whose one batch is under way and will not end by itself. */
async function submitUnderWay({ caller, simulator }: Up): Promise<string> {
  await simulator.faults(openai('batches.create', STUCK));
  const jobId = await caller.submitPrompts(prompts(ITEMS));
  await eventually(async () => (await caller.job(jobId)).progress?.completed === 1, { timeoutMs: 60_000 });
  return jobId;
}

async function listBatches({ simulator }: Up): Promise<{ id: string }[]> {
  return ((await simulator.batches())['openai'] ?? []) as { id: string }[];
}

async function letBatchesEnd(stack: Up): Promise<void> {
  for (const { id } of await listBatches(stack)) await stack.simulator.batch(id, { stuck: null });
}

async function expectSettled({ caller, operator }: Up, jobId: string): Promise<void> {
  const job = await caller.ended(jobId, 180_000);
  expect(job).toMatchObject({
    status: 'completed',
    counts: { total: ITEMS, completed: ITEMS },
    cost: { held: '0.00' },
  });
  const ids = (await caller.results(jobId)).map((row) => row.custom_id);
  expect(new Set(ids).size).toBe(ITEMS);
  expect(ids).toHaveLength(ITEMS);
  const report = await operator.call('GET', `/v1/operator/ledger/verify?job_id=${jobId}`);
  expect(report).toMatchObject({ ok: true, items: ITEMS, differences: [] });
}

test('a job goes on in the next `up` on the same folder, and what was there still is', async () => {
  const settled = await running.caller.submitPrompts(prompts(ITEMS));
  await expectSettled(running, settled);
  const before = await running.caller.job(settled);
  const underWay = await submitUnderWay(running);
  const keys = { tenant_key: running.ready.tenant_key, operator_key: running.ready.operator_key };
  expect(await running.end('SIGINT')).toBe(0);

  running = await up();
  expect(running.ready).toMatchObject(keys);
  expect(await running.caller.job(settled)).toEqual(before);
  expect(await running.caller.job(underWay)).toMatchObject({ status: 'running' });
  await letBatchesEnd(running);
  await expectSettled(running, underWay);
  expect(await listBatches(running)).toHaveLength(2);
});

test('a job goes on after everything was killed at once', async () => {
  const underWay = await submitUnderWay(running);
  const made = (await listBatches(running)).length;
  expect(await running.end('SIGKILL')).toBeNull();

  running = await up();
  await letBatchesEnd(running);
  await expectSettled(running, underWay);
  expect(await listBatches(running)).toHaveLength(made);
  expect(await running.operator.call('GET', '/v1/operator/ledger/verify')).toMatchObject({ ok: true, differences: [] });
});
