import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaveReadyFile } from '../../local/ready-file.ts';
import { type FakeGateway, startFakeGateway } from '../testing/fake-gateway.ts';
import { counts, fakeResult } from '../testing/fake-job.ts';
import { fakeReady } from '../testing/fake-ready.ts';
import { runCli } from '../testing/run-cli.ts';

let gateway: FakeGateway;
let data: string;
beforeEach(async () => {
  gateway = await startFakeGateway();
  data = mkdtempSync(join(tmpdir(), 'batchgate-demo-'));
  leaveReadyFile(data, fakeReady(gateway.url));
  gateway.toResult = (id) =>
    fakeResult(id, { result: { choices: [{ message: { content: '{"category":"billing","urgency":"high"}' } }] } });
  gateway.steps = [{ status: 'running' }, { status: 'completed', counts: counts(5, { completed: 5 }) }];
});
afterEach(async () => {
  await gateway.close();
  rmSync(data, { recursive: true });
});

test('runs on a stack that is there, shows the job to its end and says where to look', async () => {
  const { code, out } = await runCli(['demo', '--data', data, '--items', '5']);
  expect(code).toBe(0);
  expect(gateway.manifest).toHaveLength(5);
  expect(gateway.created?.model).toBe('analysis-small');
  for (const text of [
    `${gateway.url}/docs`,
    'job_1 is submitted: 5 support tickets to classify.',
    'completed: all 5 items',
    '5 billing',
    '2 charges computed again: all add up',
    `batchgate results job_1 --out results.jsonl --data ${data}`,
    'http://127.0.0.1:8233/namespaces/default/workflows/batch-job%2Fjob_1',
    'The stack was running before and goes on.',
  ]) {
    expect(out).toContain(text);
  }
});

test('prints one line of JSON: the stack and the job', async () => {
  const { code, out, err } = await runCli(['demo', '--data', data, '--items', '5', '--json']);
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out)).toMatchObject({ ready: true, api_url: gateway.url, job: { status: 'completed' } });
});

test.each(['0', '50001', 'many'])('makes no job of %s tickets', async (items) => {
  const { code, err } = await runCli(['demo', '--data', data, '--items', items]);
  expect([code, err]).toEqual([2, expect.stringContaining('--items must be a whole number, from 1 to 50000')]);
  expect(gateway.calls).toEqual([]);
});
