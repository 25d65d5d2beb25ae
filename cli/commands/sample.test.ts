import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeGateway, startFakeGateway } from '../testing/fake-gateway.ts';
import { counts, fakeJob } from '../testing/fake-job.ts';
import { runCli } from '../testing/run-cli.ts';

let gateway: FakeGateway;
let directory: string;
beforeEach(async () => {
  gateway = await startFakeGateway();
  directory = mkdtempSync(join(tmpdir(), 'batchgate-sample-'));
});
afterEach(async () => {
  await gateway.close();
  rmSync(directory, { recursive: true });
});

function run(...args: readonly string[]) {
  const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant' };
  return runCli(args, { environment });
}

const sampleOf = (extrapolated: string | null) => ({
  of_job_id: 'job_1',
  items: 2,
  of_items: 3,
  extrapolated_cost: extrapolated,
});
const cost = { estimated: null, reserved: '0.10', held: '0.00', settled: '0.04', currency: 'USD' };

/** The sample completes, and all of it would cost half as much again. */
function letItComplete(): void {
  const sample = sampleOf('0.06');
  const end = { status: 'completed' as const, completed_at: '2026-08-19T10:06:00.000Z' };
  gateway.steps = [{ ...end, counts: counts(2, { completed: 2 }), cost, sample }];
}

const SAID =
  /^completed: all 2 items, 0\.04 USD, 1 min 0 s\.\n2 of the 3 items of job_1; all would cost about 0\.06 USD\.\nRun all of them: \S+ submit job_1\n$/;

test('run --sample keeps the file as a draft, follows the sample, and tells what all of it would cost', async () => {
  letItComplete();
  const path = join(directory, 'in.jsonl');
  const out = join(directory, 'out.jsonl');
  writeFileSync(path, '{"q":"a"}\n{"q":"b"}\n{"q":"c"}\n');
  const ask = ['--template', '{{q}}', '--model', 'analysis-small', '--sample', '2', '--out', out];
  const said = await run('run', path, ...ask);
  expect(said.out).toMatch(SAID);
  expect(said.code).toBe(0);
  expect(readFileSync(out, 'utf8').trimEnd().split('\n')).toHaveLength(2);
  expect(gateway.calls.filter((call) => call.startsWith('DELETE'))).toEqual([]);
});

test('submit --sample follows the sample of a draft', async () => {
  gateway.job = fakeJob({ counts: counts(3, { submitted: 0 }) });
  letItComplete();
  expect((await run('submit', 'job_1', '--sample', '2')).out).toMatch(SAID);
  expect(gateway.calls).toContain('GET /v1/batch-jobs/job_1_sample');
});

test('submit --sample --no-watch returns once it is submitted', async () => {
  gateway.job = fakeJob({ counts: counts(3, { submitted: 0 }) });
  expect((await run('submit', 'job_1', '--sample', '2', '--no-watch')).out).toBe('job_1_sample is queued.\n');
});

test('status tells of samples on both sides', async () => {
  gateway.job = fakeJob({ sample_jobs: ['job_3', 'job_2'] });
  expect((await run('status', 'job_1')).out).toMatch(/^samples +job_3, job_2$/m);
  gateway.job = fakeJob({ sample: sampleOf(null) });
  expect((await run('status', 'job_1')).out).toMatch(
    /^sample +2 of the 3 items of job_1; what all would cost is not known yet$/m,
  );
});

test('a refused sample keeps the draft where a later one may do', async () => {
  const path = join(directory, 'in.jsonl');
  writeFileSync(path, '{"q":"a"}\n');
  gateway.refusals.push({ operation: 'POST submit', status: 402, envelope: { error: 'budget_exceeded' } });
  const { err, code } = await run('run', path, '--template', '{{q}}', '--model', 'analysis-small', '--sample', '1');
  expect(code).not.toBe(0);
  expect(err).toContain('submit job_1 --sample 1" tries again.');
});

test.each(['0', '1001', 'x'])('a sample of %s items is refused before anything is asked', async (items) => {
  const { code, err } = await run('submit', 'job_1', '--sample', items);
  expect([code, err]).toEqual([2, expect.stringContaining('--sample must be a whole number, from 1 to 1000')]);
  expect(gateway.calls).toEqual([]);
});
