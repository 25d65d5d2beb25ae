import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Task } from '../../contracts/task.ts';
import { type CliOptions, FakeSignals, runCli } from '../testing/run-cli.ts';

const AT = '2026-08-19T10:00:00.000Z';
const QUEUED: Task = {
  ...{ id: 'task_1', taskType: 'GEMINI', status: 'QUEUED', priority: 1, payload: { prompt: 'hi' } },
  ...{ response: null, error: null, attempts: 0, createdAt: AT, startedAt: null, completedAt: null },
};
const USAGE = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, reasoningTokens: 0, estimated: false };
const COMPLETED: Task = {
  ...{ ...QUEUED, status: 'COMPLETED', attempts: 1, startedAt: AT, completedAt: AT },
  response: { text: 'Paris', model: 'gemini-3.8-flash', finishReason: 'stop', usage: USAGE },
};
const FAILED: Task = {
  ...{ ...QUEUED, status: 'FAILED', attempts: 1, startedAt: AT, completedAt: AT },
  error: { code: 'SAFETY_BLOCKED', message: 'blocked' },
};

let url: string;
/** What each look at the task answers; the last one for good. */
let looks: Task[];
let posted: unknown[];
let refusal: { status: 402 | 401; code: string } | null;

beforeAll(async () => {
  const app = new Hono();
  app.post('/v1/async/task', async (c) => {
    posted.push(await c.req.json());
    if (refusal !== null) return c.json({ error: { code: refusal.code, message: 'refused' } }, refusal.status);
    return c.json(QUEUED, 202);
  });
  app.get('/v1/async/task/task_1', (c) => c.json(looks.length > 1 ? looks.shift() : looks[0]));
  const { promise, resolve } = Promise.withResolvers<AddressInfo>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, resolve);
  url = `http://127.0.0.1:${(await promise).port}`;
  afterAll(() => void server.close());
});
beforeEach(() => {
  looks = [QUEUED, { ...QUEUED, status: 'PROCESSING', attempts: 1, startedAt: AT }, COMPLETED];
  posted = [];
  refusal = null;
});

const run = (args: readonly string[], options: CliOptions = {}) =>
  runCli(['task', ...args, '--url', url, '--key', 'k'], options);

test('sends the prompt with its options, and prints the id', async () => {
  const options = ['--model', 'analysis-small', '--system', 'short', '--max-tokens', '9', '--priority', '99'];
  const { code, out } = await run(['hi', '--type', 'gemini', ...options, '--webhook', 'https://a.example/']);
  expect({ code, out }).toEqual({ code: 0, out: 'task_1\n' });
  expect(posted).toEqual([
    {
      ...{ taskType: 'GEMINI', priority: 99, webhookUrl: 'https://a.example/' },
      payload: { prompt: 'hi', model: 'analysis-small', system: 'short', maxTokens: 9 },
    },
  ]);
});

test('--wait polls to the end and prints the reply alone', async () => {
  expect(await run(['hi', '--type', 'GEMINI', '--wait'])).toEqual({ code: 0, out: 'Paris\n', err: '' });
});

test('--wait --json prints the task', async () => {
  const { out } = await run(['hi', '--type', 'GEMINI', '--wait', '--json']);
  expect(JSON.parse(out)).toEqual(COMPLETED);
});

test('a task that fails ends with 1, its code and message', async () => {
  looks = [FAILED];
  const { code, out, err } = await run(['hi', '--type', 'GEMINI', '--wait']);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain('SAFETY_BLOCKED: task_1 failed: blocked');
});

test('- reads the prompt from standard input', async () => {
  await run(['-', '--type', 'OPENAI'], { standardInput: 'from a file\n' });
  expect(posted).toEqual([{ taskType: 'OPENAI', payload: { prompt: 'from a file\n' } }]);
});

test('Ctrl-C leaves, and the task goes on', async () => {
  const signals = new FakeSignals();
  looks = [QUEUED];
  const { code, err } = await run(['hi', '--type', 'GEMINI', '--wait'], {
    signals,
    onPause: () => void signals.emit('SIGINT'),
  });
  expect(code).toBe(130);
  expect(err).toContain('task_1 is QUEUED and goes on.');
});

test.each([
  [['hi'], '--type is needed'],
  [['hi', '--type', 'GEMINY'], 'Did you mean GEMINI?'],
  [['hi', '--type', 'GEMINI', '--max-tokens', '0'], '--max-tokens'],
  [['hi', '--type', 'GEMINI', '--priority', '1.5'], '--priority'],
  [[' ', '--type', 'GEMINI'], 'The prompt is empty'],
])('%j is refused before anything is sent', async (args, message) => {
  const { code, err } = await run(args);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(posted).toEqual([]);
});

test('a refusal in the words of the task surface', async () => {
  refusal = { status: 402, code: 'BUDGET_EXCEEDED' };
  const { code, err } = await run(['hi', '--type', 'GEMINI']);
  expect(code).toBe(3);
  expect(err).toContain('BUDGET_EXCEEDED: refused');
  refusal = { status: 401, code: 'UNAUTHORIZED' };
  expect((await run(['hi', '--type', 'GEMINI'])).err).toContain('BATCHGATE_KEY');
});
