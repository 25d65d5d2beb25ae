import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { STACK_PARTS } from '../local/parts.ts';
import { startStack } from '../local/stack.ts';
import type { Stack } from '../local/stack-options.ts';
import { createControl } from '../simulators/control-client.ts';
import { readCpuTimes } from './cpu-time.ts';
import { count, type Measurement, median, perSecond } from './measurement.ts';

const RUNS = 3;
/** Posted and not yet answered at once, in either kind of run. */
const AT_ONCE = 20;
const COME_BACK_MS = 250;
const CALLS = 200;
const IDLE_EVERY_MS = 300;
const POLL_MS = 50;
const QUEUE = 'bench-empty';
const EMPTY_WORKER = fileURLToPath(new URL('./empty-worker.ts', import.meta.url));
/** Of the limits that count calls and tasks none is to be the answer here. */
const NO_LIMITS = { BATCHGATE_REQUESTS_PER_MINUTE: '100000000', BATCHGATE_LOG_LEVEL: 'warn' };
const MANY = 1_000_000;
/** Far more than one api process starts at once. */
const FLOOD = 1_000;

interface Bench {
  readonly stack: Stack;
  readonly client: Client;
  readonly emptyWorkerPid: number | undefined;
}

/**
 * Tasks through the whole stack, api and worker as processes of their own, and empty workflows of one activity on the same Temporal
 * server with a worker of their own, in turn. The ratio is of median rates, from the first post or start until Temporal knows the last
 * one as completed. Then what calls take while tasks are at work, and what happens to more of them than can be taken.
 */
export async function measureTasks(
  environment: Record<string, string | undefined>,
  tasks: number,
): Promise<Measurement[]> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'batchgate-bench-'));
  const options = { port: 0, dataDirectory, ephemeral: false, onProgress: () => undefined };
  const stack = await startStack({ ...options, environment: { ...environment, ...NO_LIMITS } }, STACK_PARTS);
  const connection = await Connection.connect({ address: stack.ready.temporal_address });
  const client = new Client({ connection, namespace: stack.ready.temporal_namespace });
  const worker = await startEmptyWorker(stack);
  try {
    await allowTasks(stack);
    await createControl(stack.ready.simulators.control_url ?? '').settings({ openai: { replyLatencyMs: 0 } });
    const bench = { stack, client, emptyWorkerPid: worker.pid };
    await runTasks(bench, 200);
    await runEmpty(bench, 200);
    const idle = await latencies(bench, CALLS / 2, IDLE_EVERY_MS);
    const runs: PairOfRuns[] = [];
    for (let run = 0; run < RUNS; run += 1) runs.push(await runBoth(bench, tasks));
    const everyMs = (2 * median(runs.map(({ taskMs }) => taskMs))) / tasks;
    const busy = await latencies(bench, CALLS, everyMs);
    return [throughput(tasks, runs), ...compare(busy, idle), await flood(bench)];
  } finally {
    worker.kill();
    await connection.close();
    await stack.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

async function startEmptyWorker({ ready }: Stack): Promise<ChildProcess> {
  const args = [EMPTY_WORKER, ready.temporal_address, ready.temporal_namespace, QUEUE];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

async function allowTasks({ ready }: Stack): Promise<void> {
  const client = new pg.Client({ connectionString: ready.database_url });
  await client.connect();
  try {
    await client.query('UPDATE tenants SET policy = $1', [JSON.stringify({ task_concurrency: MANY })]);
  } finally {
    await client.end();
  }
}

/** Calls `work` so many times, some at once. */
async function repeat(times: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < times) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** Until so many more workflows of the type have completed than `before`. */
async function completed({ client }: Bench, type: string, wanted: number): Promise<void> {
  while ((await countCompleted(client, type)) < wanted) await delay(POLL_MS);
}

async function countCompleted(client: Client, type: string): Promise<number> {
  const query = `WorkflowType = '${type}' AND ExecutionStatus = 'Completed'`;
  return Number((await client.workflow.count(query)).count);
}

async function runEmpty(bench: Bench, workflows: number): Promise<number> {
  const before = await countCompleted(bench.client, 'emptyTask');
  const start = performance.now();
  await repeat(workflows, AT_ONCE, async (index) => {
    const workflowId = `empty-${before + index}`;
    await bench.client.workflow.start('emptyTask', { workflowId, taskQueue: QUEUE });
  });
  await completed(bench, 'emptyTask', before + workflows);
  return performance.now() - start;
}

async function runTasks(bench: Bench, tasks: number): Promise<number> {
  const before = await countCompleted(bench.client, 'asyncTask');
  const start = performance.now();
  await repeat(tasks, AT_ONCE, () => postPatiently(bench));
  await completed(bench, 'asyncTask', before + tasks);
  return performance.now() - start;
}

const PROMPT = 'Ticket: the customer writes that it does not work any more and asks what to do next. '.repeat(9);

function postTask({ stack }: Bench): Promise<Response> {
  const body = { taskType: 'OPENAI', payload: { prompt: PROMPT, model: 'gpt-4o-mini', maxTokens: 60 } };
  return fetch(`${stack.ready.api_url}/v1/async/task`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.ready.tenant_key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** One that is refused is sent again, as a client does, if sooner than it is told. */
async function postPatiently(bench: Bench): Promise<void> {
  for (;;) {
    const response = await postTask(bench);
    const text = await response.text();
    if (response.status === 202) return;
    if (response.status !== 429) throw new Error(`a task was answered ${response.status}: ${text}`);
    await delay(COME_BACK_MS);
  }
}

async function getTask({ stack }: Bench, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${stack.ready.tenant_key}` };
  const response = await fetch(`${stack.ready.api_url}/v1/async/task/${id}`, { headers });
  if (!response.ok) throw new Error(`a read was answered ${response.status}`);
  await response.arrayBuffer();
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; ms: number }> {
  const start = performance.now();
  const result = await work();
  return { result, ms: performance.now() - start };
}

interface Latencies {
  readonly postMs: readonly number[];
  readonly getMs: readonly number[];
}

/** A post and a read every so often, each timed from its sending, whatever the ones before are at. */
async function latencies(bench: Bench, calls: number, everyMs: number): Promise<Latencies> {
  const before = await countCompleted(bench.client, 'asyncTask');
  const [postMs, getMs]: [number[], number[]] = [[], []];
  const call = async (index: number): Promise<void> => {
    await delay(index * everyMs);
    const posted = await timed(() => postTask(bench));
    if (posted.result.status !== 202) throw new Error(`a task was answered ${posted.result.status}`);
    const { id } = (await posted.result.json()) as { id: string };
    postMs.push(posted.ms);
    getMs.push((await timed(() => getTask(bench, id))).ms);
  };
  await Promise.all(Array.from({ length: calls }, (_, index) => call(index)));
  await completed(bench, 'asyncTask', before + calls);
  return { postMs, getMs };
}

type Cpu = Record<'api' | 'worker' | 'postgres' | 'temporal' | 'emptyWorker', number>;

interface PairOfRuns {
  readonly taskMs: number;
  readonly emptyMs: number;
  /** What tasks used of the processors, and what empty workflows did. */
  readonly taskCpu: Cpu;
  readonly emptyCpu: Cpu;
}

async function runBoth(bench: Bench, tasks: number): Promise<PairOfRuns> {
  const readCpu = () => readCpuTimes({ ...bench.stack.pids(), emptyWorker: bench.emptyWorkerPid });
  const before = await readCpu();
  const emptyMs = await runEmpty(bench, tasks);
  const between = await readCpu();
  const taskMs = await runTasks(bench, tasks);
  const after = await readCpu();
  return { taskMs, emptyMs, taskCpu: spent(between, after), emptyCpu: spent(before, between) };
}

function spent(before: Cpu, after: Cpu): Cpu {
  const entries = Object.entries(after).map(([name, ms]) => [name, ms - before[name as keyof Cpu]]);
  return Object.fromEntries(entries) as Cpu;
}

function throughput(tasks: number, runs: readonly PairOfRuns[]): Measurement {
  const [task, empty] = [median(runs.map(({ taskMs }) => taskMs)), median(runs.map(({ emptyMs }) => emptyMs))];
  const ofTask = (name: keyof Cpu) => (median(runs.map(({ taskCpu }) => taskCpu[name])) / tasks).toFixed(1);
  const ofEmpty = (name: keyof Cpu) => (median(runs.map(({ emptyCpu }) => emptyCpu[name])) / tasks).toFixed(1);
  const detail = [
    `tasks ${perSecond(tasks, task)}, empty ${perSecond(tasks, empty)}, median of ${RUNS} runs of ${count(tasks)}, ${AT_ONCE} posts at once`,
    `CPU of a task: api ${ofTask('api')}, worker ${ofTask('worker')}, Postgres ${ofTask('postgres')}, Temporal ${ofTask('temporal')} ms`,
    `of an empty one: worker ${ofEmpty('emptyWorker')}, Temporal ${ofEmpty('temporal')} ms; sender and simulator are one process beside`,
  ].join('; ');
  return {
    name: 'tasks, against empty workflows of one activity',
    ratio: empty / task,
    goal: { atLeast: 0.7 },
    detail,
  };
}

function compare(busy: Latencies, idle: Latencies): Measurement[] {
  return (['postMs', 'getMs'] as const).map((kind) => {
    const at = (run: Latencies, part: number) => percentile(run[kind], part);
    const detail = `50th and 99th percentile: ${at(busy, 0.5).toFixed(1)} and ${at(busy, 0.99).toFixed(1)} ms, at a task every ${IDLE_EVERY_MS} ms ${at(idle, 0.5).toFixed(1)} and ${at(idle, 0.99).toFixed(1)} ms`;
    const name = `task ${kind === 'postMs' ? 'POST' : 'GET'} at half of the rate, 99th percentile against idle`;
    return { name, ratio: at(busy, 0.99) / at(idle, 0.99), goal: { atMost: 5 }, detail };
  });
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** All at once: what is too much is refused with the time to come back, and what was taken comes to its end. */
async function flood(bench: Bench): Promise<Measurement> {
  const before = await countCompleted(bench.client, 'asyncTask');
  const start = performance.now();
  const answers = await Promise.all(Array.from({ length: FLOOD }, () => postTask(bench)));
  const answeredMs = performance.now() - start;
  const taken = answers.filter(({ status }) => status === 202).length;
  const refused = answers.filter(({ status, headers }) => status === 429 && headers.has('retry-after')).length;
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  await completed(bench, 'asyncTask', before + taken);
  const detail = `of ${count(FLOOD)} posts at once ${count(taken)} were taken, ${count(refused)} answered 429 with Retry-After, within ${Math.round(answeredMs)} ms; every task that was taken ended`;
  return {
    name: 'posts beyond what can be taken: taken or told to come back',
    ratio: (taken + refused) / FLOOD,
    goal: { atLeast: 1 },
    detail,
  };
}
