import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { toUuid } from '../db/ids.ts';
import { STACK_PARTS } from '../local/parts.ts';
import { startStack } from '../local/stack.ts';
import type { Stack } from '../local/stack-options.ts';
import { createControl } from '../simulators/control-client.ts';
import { type Measurement, median, perSecond } from './measurement.ts';

const AT_ONCE = { openai: { validatingMs: 0, inProgressMs: 0, finalizingMs: 0 } };
const POLL_MS = 20;
const STATUS_REQUESTS = 400;
const STATUS_EVERY_MS = 10;
const TERMINAL = ['completed', 'completed_with_errors', 'expired', 'cancelled', 'failed'];

/** Jobs of growing size through the whole stack: api and worker as processes of their own, the simulator done at once. */
export async function measureJobs(
  environment: Record<string, string | undefined>,
  sizes: readonly number[],
): Promise<Measurement[]> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'batchgate-bench-'));
  const options = { port: 0, dataDirectory, ephemeral: false, environment, onProgress: () => undefined };
  const stack = await startStack(options, STACK_PARTS);
  try {
    const control = createControl(stack.ready.simulators.control_url ?? '');
    await control.settings(AT_ONCE);
    await runJob(stack, 1_000);
    const idle = await statusLatencies(stack, await lastJob(stack));
    const runs = [];
    for (const size of sizes) runs.push({ size, ...(await runJob(stack, size)) });
    const largest = runs.at(-1);
    if (largest === undefined) throw new Error('no sizes given');
    const busyJob = runJob(stack, 50_000);
    const busy = await statusLatencies(stack, await lastJob(stack));
    await busyJob;
    const raw = await timeRawCopy(stack.ready.database_url, largest.jobId);
    return [
      throughput(largest, raw),
      growth(runs),
      ...(await memory(stack)),
      latency('status GET, 99th percentile while a job is ingested against idle', busy, idle),
    ];
  } finally {
    await stack.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

interface JobRun {
  readonly jobId: string;
  readonly ms: number;
  readonly simulatorCpuMs: number;
}

/** From the first item handed over to all results readable. */
async function runJob(stack: Stack, items: number): Promise<JobRun> {
  const job = await call<{ job_id: string }>(stack, 'POST', '/v1/batch-jobs', {
    endpoint: 'chat.completions',
    model: 'openai/gpt-4o-mini',
  });
  const path = `/v1/batch-jobs/${job.job_id}`;
  const cpu = process.cpuUsage();
  const start = performance.now();
  await fetch(`${stack.ready.api_url}${path}/manifest`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${stack.ready.tenant_key}`, 'content-type': 'application/x-ndjson' },
    body: Readable.toWeb(Readable.from(manifest(items))) as ReadableStream,
    duplex: 'half',
  } as RequestInit).then(requireOk);
  await call(stack, 'POST', `${path}/submit`);
  for (;;) {
    const { status } = await call<{ status: string }>(stack, 'GET', path);
    if (TERMINAL.includes(status)) {
      if (status !== 'completed') throw new Error(`the job ended ${status}`);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const ms = performance.now() - start;
  // The simulator and the reader of the input run in this process.
  const used = process.cpuUsage(cpu);
  return { jobId: job.job_id, ms, simulatorCpuMs: (used.user + used.system) / 1_000 };
}

function* manifest(items: number): Generator<Buffer> {
  const text = 'Ticket: the customer writes that it does not work any more and asks what to do next. '.repeat(9);
  let lines: string[] = [];
  for (let index = 0; index < items; index += 1) {
    const request = { messages: [{ role: 'user', content: `${index} ${text}` }], max_tokens: 60 };
    lines.push(`${JSON.stringify({ custom_id: `ticket_${index}`, request })}\n`);
    if (lines.length === 500) {
      yield Buffer.from(lines.join(''));
      lines = [];
    }
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

function throughput(
  { size, ms, simulatorCpuMs }: JobRun & { size: number },
  raw: { rows: number; ms: number },
): Measurement {
  const ratio = size / ms / (raw.rows / raw.ms);
  const detail = `${perSecond(size, ms)} from the first item to all results readable, raw COPY of its item and request rows ${perSecond(raw.rows, raw.ms)}; simulator and sender used ${Math.round(simulatorCpuMs)} ms of CPU besides`;
  return { name: `a job of ${size.toLocaleString('en')} items, end to end`, ratio, goal: { atLeast: 0.15 }, detail };
}

/** The exponent of time over items, fitted on logarithms: 1 is flat cost for each item. */
function growth(runs: readonly (JobRun & { size: number })[]): Measurement {
  const points = runs.map(({ size, ms }) => [Math.log(size), Math.log(ms)] as const);
  const mean = (axis: 0 | 1) => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  const slope =
    points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  const detail = runs.map(({ size, ms }) => `${size.toLocaleString('en')} in ${(ms / 1_000).toFixed(1)} s`).join(', ');
  return { name: 'growth of cost with the number of items (exponent)', ratio: slope, goal: { atMost: 1.05 }, detail };
}

async function memory(stack: Stack): Promise<Measurement[]> {
  const { api, worker } = stack.pids();
  const limitBytes = 512 * 1024 * 1024;
  return Promise.all(
    Object.entries({ api, worker }).map(async ([name, pid]) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const bytes = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1_024;
      return {
        name: `peak memory of the ${name} as part of 512 MB`,
        ratio: bytes / limitBytes,
        goal: { atMost: 1 },
        detail: `${Math.round(bytes / 1_048_576)} MB`,
      };
    }),
  );
}

/** A hundred requests a second, each timed from its sending. */
async function statusLatencies(stack: Stack, jobId: string): Promise<number> {
  const times = await Promise.all(
    Array.from({ length: STATUS_REQUESTS }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * STATUS_EVERY_MS));
      const start = performance.now();
      await call(stack, 'GET', `/v1/batch-jobs/${jobId}`);
      return performance.now() - start;
    }),
  );
  return times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

function latency(name: string, busyMs: number, idleMs: number): Measurement {
  const detail = `idle ${idleMs.toFixed(1)} ms (goal: under 20 ms), during an ingest ${busyMs.toFixed(1)} ms, at 100 requests a second; asked from the process that is also the simulator, so its own waits are in it`;
  return { name, ratio: busyMs / idleMs, goal: { atMost: 5 }, detail };
}

async function lastJob(stack: Stack): Promise<string> {
  const page = await call<{ data: { job_id: string }[] }>(stack, 'GET', '/v1/batch-jobs?limit=1');
  const [job] = page.data;
  if (job === undefined) throw new Error('no job yet');
  return job.job_id;
}

/** COPYs the item and request rows of a job into empty tables of the same shape and indexes. */
async function timeRawCopy(databaseUrl: string, jobId: string): Promise<{ rows: number; ms: number }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const uuid = toUuid('job', jobId);
    const { rows } = await client.query('SELECT item_count FROM batch_jobs WHERE job_id = $1', [uuid]);
    const texts = new Map<string, Buffer>();
    for (const table of ['batch_items', 'item_requests']) {
      const copy = client.query(copyTo(`COPY (SELECT * FROM ${table} WHERE job_id = '${uuid}') TO STDOUT`));
      texts.set(table, Buffer.concat(await copy.toArray()));
    }
    const times: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      for (const table of texts.keys())
        await client.query(
          `DROP TABLE IF EXISTS bench_${table}; CREATE TABLE bench_${table} (LIKE ${table} INCLUDING ALL)`,
        );
      const start = performance.now();
      for (const [table, bytes] of texts)
        await pipeline(Readable.from([bytes]), client.query(copyFrom(`COPY bench_${table} FROM STDIN`)));
      times.push(performance.now() - start);
      for (const table of texts.keys()) await client.query(`DROP TABLE bench_${table}`);
    }
    return { rows: rows[0].item_count, ms: median(times) };
  } finally {
    await client.end();
  }
}

async function call<Answer>(stack: Stack, method: string, path: string, json?: unknown): Promise<Answer> {
  const response = await fetch(`${stack.ready.api_url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${stack.ready.tenant_key}`,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  }).then(requireOk);
  return (await response.json()) as Answer;
}

async function requireOk(response: Response): Promise<Response> {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  return response;
}
