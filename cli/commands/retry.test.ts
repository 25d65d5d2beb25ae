import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeGateway, startFakeGateway } from '../testing/fake-gateway.ts';
import { counts, fakeJob } from '../testing/fake-job.ts';
import { runCli } from '../testing/run-cli.ts';

let gateway: FakeGateway;
let directory: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-retry-'));
  gateway = await startFakeGateway();
  gateway.job = fakeJob({ status: 'completed_with_errors', counts: counts(3, { completed: 1, failed: 2 }) });
});
afterEach(async () => {
  await gateway.close();
  rmSync(directory, { recursive: true });
});

function run(...args: string[]) {
  return runCli(args, { environment: { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant' } });
}

test('retry makes a draft of what failed, or submits it', async () => {
  const draft = await run('retry', 'job_1');
  expect(draft.out).toMatch(/^job_1_retry retries 2 items of job_1; submit it with ".*submit job_1_retry"\.\n$/);
  const submitted = await run('retry', 'job_1', '--submit', '--json');
  expect(JSON.parse(submitted.out)).toMatchObject({ job_id: 'job_1_retry', status: 'queued' });
  expect(gateway.retries).toEqual([{}, { submit: true }]);
});

test('retry says which items and on what', async () => {
  const corrections = join(directory, 'requests.json');
  writeFileSync(corrections, '{"c":{"max_tokens":5}}');
  const narrow = ['--classes', 'expired, validation', '--ids', 'a,b', '--ids', 'c', '--requests', corrections];
  await run('retry', 'job_1', ...narrow, '--model', 'anthropic/claude-haiku-4-5', '--acknowledge-safety');
  expect(gateway.retries).toEqual([
    {
      classes: ['expired', 'validation'],
      custom_ids: ['a', 'b', 'c'],
      model: 'anthropic/claude-haiku-4-5',
      requests: { c: { max_tokens: 5 } },
      acknowledge_safety: true,
    },
  ]);
});

test('retry refuses what it cannot read, before it asks', async () => {
  const { code, err } = await run('retry', 'job_1', '--classes', 'expird');
  expect([code, err]).toEqual([2, 'error: --classes "expird" is not known. Did you mean expired?\n']);
  const corrections = join(directory, 'requests.json');
  writeFileSync(corrections, '["a"]');
  expect((await run('retry', 'job_1', '--requests', corrections)).code).toBe(2);
  expect(gateway.calls).toEqual([]);
});

test('results are read by original', async () => {
  await run('results', 'job_1', '--view', 'latest');
  expect(gateway.calls[0]).toContain('view=latest');
  expect((await run('results', 'job_1', '--view', 'newest')).code).toBe(2);
});
