import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StackReady } from '../../local/stack-options.ts';
import { runNode } from '../harness/run-node.ts';

const CLI = join(import.meta.dirname, '..', '..', 'cli', 'main.ts');
const ROWS = 20;

let directory: string;
let stack: ChildProcess | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-cli-'));
});
afterEach(async () => {
  if (stack?.exitCode === null) await stopped(stack, 'SIGKILL');
  rmSync(directory, { recursive: true });
});

function stopped(child: ChildProcess, signal: 'SIGINT' | 'SIGKILL'): Promise<number | null> {
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill(signal);
  return exit;
}

/** The one line that `up --json` prints. */
async function up(): Promise<{ child: ChildProcess; ready: StackReady }> {
  const env = { ...process.env, TEMPORAL_ADDRESS: undefined, OPENAI_API_KEY: undefined };
  const args = [CLI, 'up', '--data', join(directory, 'data'), '--port', '0', '--json'];
  const child = spawn(process.execPath, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'inherit'] });
  stack = child;
  for await (const line of createInterface(child.stdout)) return { child, ready: JSON.parse(line) };
  throw new Error('the stack ended before it was ready');
}

test('a file becomes results through the command line, with no setting but the data folder', async () => {
  const { child, ready } = await up();
  expect(ready).toMatchObject({ ready: true, tenant_key: expect.stringMatching(/^bg_tenant_/) });

  const rows = Array.from({ length: ROWS }, (_, index) => `${index},"Is ${index} odd,\nor even?"\n`);
  writeFileSync(join(directory, 'in.csv'), `id,question\n${rows.join('')}`);
  const cli = (...args: string[]) => runNode([CLI, ...args, '--data', 'data'], {}, directory);
  const ask = ['--template', '{{question}}', '--id-column', 'id', '--model', 'analysis-small', '--out', 'out.jsonl'];
  const run = await cli('run', 'in.csv', ...ask, '--json');
  expect(run.status).toBe(0);
  const job = JSON.parse(run.stdout);
  expect(job).toMatchObject({ status: 'completed', name: 'in.csv', counts: { total: ROWS, completed: ROWS } });

  const lines = readFileSync(join(directory, 'out.jsonl'), 'utf8').trimEnd().split('\n');
  const results = lines.map((line) => JSON.parse(line));
  expect(results.map(({ custom_id }) => Number(custom_id)).toSorted((left, right) => left - right)).toEqual([
    ...Array(ROWS).keys(),
  ]);
  expect(results.every(({ status, text }) => status === 'completed' && text.length > 0)).toBe(true);

  expect((await cli('ledger', 'verify', '--job', job.job_id)).stdout).toContain('everything adds up: 20 charges');
  const broken = await cli('run', 'in.csv', '--template', '{{qestion}}', '--model', 'analysis-small');
  expect([broken.status, broken.stderr]).toEqual([2, expect.stringContaining('in.csv, line 2: no column "qestion"')]);

  expect(await stopped(child, 'SIGINT')).toBe(0);
  expect((await cli('jobs')).stderr).toContain('no local stack runs');
});
