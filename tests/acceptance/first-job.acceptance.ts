import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CLI = join(ROOT, 'cli', 'main.ts');
const ITEMS = process.env['BATCHGATE_ACCEPTANCE'] === 'short' ? 500 : 50_000;
const run = promisify(execFile);

let ready: { api_url: string; tenant_key: string; operator_key: string };
let stop: () => Promise<void>;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchgate-first-job-'));
  const args = [CLI, 'up', '--ephemeral', '--port', '0', '--json'];
  const stack = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(stack, 'exit');
  stop = async () => {
    stack.kill('SIGINT');
    expect((await ended)[0]).toBe(0);
  };
  const [line] = await Promise.race([once(createInterface(stack.stdout), 'line'), ended.then(() => ['{}'])]);
  ready = JSON.parse(String(line));
});

afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

async function get(path: string, key = ready.tenant_key): Promise<Record<string, unknown>> {
  const response = await fetch(`${ready.api_url}${path}`, { headers: { Authorization: `Bearer ${key}` } });
  return (await response.json()) as Record<string, unknown>;
}

async function batchgate(...args: string[]): Promise<string> {
  const { api_url: BATCHGATE_URL, tenant_key: BATCHGATE_KEY, operator_key: BATCHGATE_OPERATOR_KEY } = ready;
  const env = { ...process.env, BATCHGATE_URL, BATCHGATE_KEY, BATCHGATE_OPERATOR_KEY };
  return (await run(process.execPath, [CLI, ...args], { cwd: folder, env })).stdout;
}

test('the first job of the README runs as it is written there', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const section = readme.split('## The first job, with curl')[1] ?? '';
  const script = /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
  const commands = script
    .replace(/^API=.*$/m, `API=${ready.api_url}`)
    .replace(/^KEY=.*$/m, `KEY=${ready.tenant_key}`)
    .concat('\nprintf "\\njob: %s\\n" "$JOB"\n');
  const { stdout } = await run('bash', ['-euc', commands], { cwd: folder });
  const jobId = /^job: (job_\w+)$/m.exec(stdout)?.[1];

  const job = await eventually(
    async () => {
      const current = await get(`/v1/batch-jobs/${jobId}`);
      return current['completed_at'] === null ? null : current;
    },
    { timeoutMs: 120_000 },
  );
  expect(job).toMatchObject({
    status: 'completed_with_errors',
    counts: { total: 3, completed: 2, failed: 1 },
    cost: { held: '0.00' },
  });
});

test('the command line makes a job of a file, follows it and brings every answer', async () => {
  const rows = Array.from({ length: ITEMS }, (_, index) => `q${index},What is ${index} times two?`);
  await writeFile(join(folder, 'questions.csv'), ['id,question', ...rows].join('\n'));
  await batchgate(
    ...['run', 'questions.csv', '--template', '{{question}}', '--id-column', 'id'],
    ...['--model', 'analysis-small', '--max-tokens', '20', '--out', 'answers.jsonl'],
  );

  const lines = (await readFile(join(folder, 'answers.jsonl'), 'utf8')).trimEnd().split('\n');
  const answers = lines.map((line) => JSON.parse(line) as { custom_id: string; status: string });
  expect(new Set(answers.map(({ custom_id }) => custom_id)).size).toBe(ITEMS);
  expect(answers.filter(({ status }) => status !== 'completed')).toEqual([]);
});

test('every charge can be computed again', async () => {
  expect(await batchgate('ledger', 'verify')).toMatch(/add/i);
  const report = await get('/v1/operator/ledger/verify', ready.operator_key);
  expect(report).toMatchObject({ ok: true, items: 3 + ITEMS, differences: [] });
});
