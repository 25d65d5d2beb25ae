import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaveReadyFile } from '../../local/ready-file.ts';
import { type FakeGateway, startFakeGateway } from '../testing/fake-gateway.ts';
import { counts, fakeResult } from '../testing/fake-job.ts';
import { fakeReady } from '../testing/fake-ready.ts';
import { runCli } from '../testing/run-cli.ts';

const ALL_COMPLETED = { status: 'completed', counts: counts(2, { completed: 2 }) } as const;
const SOME_FAILED = {
  status: 'completed_with_errors',
  counts: counts(2, { completed: 1, failed: 1 }),
  failures: { provider_error: 1 },
} as const;

let gateway: FakeGateway;
let data: string;
beforeEach(async () => {
  gateway = await startFakeGateway();
  data = mkdtempSync(join(tmpdir(), 'batchgate-demo-'));
  leaveReadyFile(data, fakeReady(gateway.url));
  gateway.toResult = (id) =>
    fakeResult(id, { result: { choices: [{ message: { content: '{"category":"billing","urgency":"high"}' } }] } });
  gateway.stepsOf = ({ model }) => [{ status: 'running' }, model.startsWith('gemini/') ? SOME_FAILED : ALL_COMPLETED];
});
afterEach(async () => {
  await gateway.close();
  rmSync(data, { recursive: true });
});

test('runs a job on each provider of a stack that is there, shows them to their ends and says where to look', async () => {
  const { code, out } = await runCli(['demo', '--data', data, '--items', '6']);
  expect(code).toBe(0);
  expect(gateway.created.map(({ model }) => model)).toEqual([
    'openai/gpt-5.6-luna',
    'anthropic/claude-haiku-5-5',
    'gemini/gemini-3.5-flash-lite',
  ]);
  for (const text of [
    `${gateway.url}/docs`,
    '6 support tickets to classify are submitted:',
    '  job_2  2 on Anthropic',
    'OpenAI  completed: all 2 items',
    'Gemini  completed_with_errors: 1 completed, 1 failed',
    '1 provider_error: each free of charge',
    '2 billing',
    '2 charges computed again: all add up',
    `batchgate results job_1 --out results.jsonl --data ${data}`,
    `batchgate items job_3 ticket_000003 --data ${data}`,
    'http://127.0.0.1:8233/namespaces/default/workflows/batch-job%2Fjob_1',
    'The stack was running before and goes on.',
  ]) {
    expect(out).toContain(text);
  }
});

test.each([
  ['fails', { status: 'failed' }],
  ['of which nothing fails', ALL_COMPLETED],
] as const)('is not successful where the job that is to meet with some errors %s', async (_, end) => {
  gateway.stepsOf = ({ model }) => [model.startsWith('gemini/') ? end : ALL_COMPLETED];
  expect((await runCli(['demo', '--data', data, '--items', '6'])).code).toBe(1);
});

test('prints one line of JSON: the stack and the jobs', async () => {
  const { out, err } = await runCli(['demo', '--data', data, '--items', '6', '--json']);
  expect(err).toBe('');
  expect(JSON.parse(out)).toMatchObject({
    ready: true,
    api_url: gateway.url,
    jobs: [{}, {}, { status: 'completed_with_errors' }],
  });
});

test.each(['0', '50001', 'many'])('makes no job of %s tickets', async (items) => {
  const { code, err } = await runCli(['demo', '--data', data, '--items', items]);
  expect([code, err]).toEqual([2, expect.stringContaining('--items must be a whole number, from 1 to 50000')]);
  expect(gateway.calls).toEqual([]);
});
