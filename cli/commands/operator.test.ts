import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeGateway, startFakeGateway } from '../testing/fake-gateway.ts';
import { runCli } from '../testing/run-cli.ts';

let gateway: FakeGateway;
beforeEach(async () => {
  gateway = await startFakeGateway();
});
afterEach(() => gateway.close());

function operate(...args: string[]) {
  const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_OPERATOR_KEY: 'operator' };
  return runCli(['operator', ...args], { environment });
}

test('operator job shows the shards, the candidates and what was done', async () => {
  const { code, out } = await operate('job', 'job_1');
  expect(code).toBe(0);
  expect(out).toMatch(/^job_1 of tenant_local is draft; http.*batch-job%2Fjob_1$/m);
  expect(out).toMatch(/1 +indeterminate +2 +confirming_submission/);
  expect(out).toMatch(/1 +batch_b +in_progress/);
  expect(out).toMatch(/resolve .*key_operator +the later one +\{"provider_batch_id":"batch_b"\}/);
});

test.each([
  [['cancel', 'job_1', '--reason', 'r'], 'job_1 is cancel_requested.\n', 'cancel'],
  [['give-up', 'job_1', '--reason', 'r'], 'job_1: shards 1, 2 to be given up.\n', 'give-up'],
  [['give-up', 'job_1', '--shard', '2', '--reason', 'r'], 'job_1: shard 2 to be given up.\n', 'give-up'],
  [['re-ingest', 'job_1', '--shard', '2'], 'job_1: shard 2 to be read again.\n', 're-ingest'],
  [
    ['resolve', 'job_1', '--shard', '1', '--batch', 'b', '--reason', 'r'],
    'job_1: shard 1 to be resolved.\n',
    'resolve',
  ],
  [['resolve', 'job_1', '--shard', '1', '--none', '--reason', 'r'], 'job_1: shard 1 to be resolved.\n', 'resolve'],
])('operator %j acts with the key of an operator', async (args, out, act) => {
  expect(await operate(...args)).toMatchObject({ code: 0, out });
  expect(gateway.calls).toEqual([`POST /v1/operator/jobs/job_1/${act}`]);
  expect(gateway.keys).toEqual(['operator']);
});

test.each([
  [[], 'operator needs a topic'],
  [['give-up', 'job_1'], 'operator give-up needs --reason.'],
  [['give-up', 'job_1', '--shard', 'two', '--reason', 'r'], '--shard is the number of a shard.'],
  [['resolve', 'job_1', '--none', '--reason', 'r'], 'operator resolve needs --shard.'],
  [['resolve', 'job_1', '--shard', '1', '--reason', 'r'], 'needs either --batch or --none.'],
  [['resolve', 'job_1', '--shard', '1', '--none', '--batch', 'b', '--reason', 'r'], 'needs either --batch or --none.'],
])('operator %j is refused before anything is asked', async (args, message) => {
  const { code, err } = await operate(...args);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(gateway.calls).toEqual([]);
});
