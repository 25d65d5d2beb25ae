import { expect, test } from 'vitest';
import type { FaultAction } from '../fault-actions.ts';
import { GEMINI_FAULT_ROUTES } from './fault-routes.ts';
import { AT_ONCE, lines, MODEL, reached, startGemini, submit, submitInline } from './testing/harness.ts';

const provider = 'gemini';
const HOUR_MS = 3_600_000;
const CREATE = { batch: { inputConfig: { requests: { requests: [{ request: { contents: [] } }] } } } };
const GENERATE = { contents: [{ parts: [{ text: 'a' }] }] };

const CALLS: Record<string, { method: string; path: string; body?: object; headers?: Record<string, string> }> = {
  'files.upload.start': {
    method: 'POST',
    path: '/upload/v1beta/files',
    headers: {
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': '3',
    },
    body: {},
  },
  'files.upload.chunk': { method: 'POST', path: '/upload/v1beta/files?upload_id=x', body: {} },
  'files.get': { method: 'GET', path: '/v1beta/files/x' },
  'files.list': { method: 'GET', path: '/v1beta/files' },
  'files.delete': { method: 'DELETE', path: '/v1beta/files/x' },
  'files.download': { method: 'GET', path: '/download/v1beta/files/x:download?alt=media' },
  'batches.create': { method: 'POST', path: `/v1beta/models/${MODEL}:batchGenerateContent`, body: CREATE },
  'batches.retrieve': { method: 'GET', path: '/v1beta/batches/x' },
  'batches.list': { method: 'GET', path: '/v1beta/batches' },
  'batches.cancel': { method: 'POST', path: '/v1beta/batches/x:cancel', body: {} },
  'batches.delete': { method: 'DELETE', path: '/v1beta/batches/x' },
  'models.list': { method: 'GET', path: '/v1beta/models' },
  'models.generateContent': { method: 'POST', path: `/v1beta/models/${MODEL}:generateContent`, body: GENERATE },
  'models.embedContent': { method: 'POST', path: '/v1beta/models/gemini-embedding-001:embedContent', body: {} },
  'webhooks.keys': { method: 'GET', path: '/.well-known/jwks.json' },
};

test('every HTTP route that knows faults is called here', () => {
  expect(Object.keys(CALLS)).toEqual(Object.keys(GEMINI_FAULT_ROUTES).filter((route) => !route.includes(':')));
});

test('meets faults on every route', async () => {
  const { rest, control } = await startGemini();
  for (const [route, { method, path, body, headers }] of Object.entries(CALLS)) {
    await control.faults(
      { provider, route, action: { status: 418 } },
      { provider, route, action: { drop_before: true } },
    );
    expect([route, (await rest(method, path, body, headers)).status]).toEqual([route, 418]);
    await expect(rest(method, path, body, headers)).rejects.toThrow();
  }
  expect(await control.remainingFaults()).toEqual([]);
});

test.for([
  { status: 400, code: 'INVALID_ARGUMENT' },
  { status: 403, code: 'PERMISSION_DENIED' },
  { status: 404, code: 'NOT_FOUND' },
  { status: 429, code: 'RESOURCE_EXHAUSTED' },
  { status: 500, code: 'INTERNAL' },
  { status: 502, code: 'INTERNAL' },
  { status: 503, code: 'UNAVAILABLE' },
  { status: 504, code: 'DEADLINE_EXCEEDED' },
])('answers a scripted $status as the API would', async ({ status, code }) => {
  const { client, control } = await startGemini();
  await control.faults({ provider, route: 'batches.list', action: { status } });
  const error = await client.batches.list().then(
    () => undefined,
    (thrown: { status: number; message: string }) => thrown,
  );
  expect(error?.status).toBe(status);
  const { error: body } = JSON.parse(error?.message ?? '{}');
  expect(body).toMatchObject({ code: status, status: code, message: expect.any(String) });
  expect(body.details?.[0]?.retryDelay).toBe(status === 429 ? '1s' : undefined);
});

test.for([
  { what: 'drops the socket', action: { drop_after: true as const } },
  { what: 'answers 500', action: { status_after: 500 } },
  { what: 'answers 504', action: { status_after: 504 } },
] satisfies { what: string; action: FaultAction }[])(
  'keeps the batch of a create that then $what',
  async ({ action }) => {
    const gemini = await startGemini();
    await gemini.control.faults({ provider, route: 'batches.create', match: { display_name: 'lost' }, action });
    await expect(submitInline(gemini, ['a'], { displayName: 'lost' })).rejects.toThrow();
    expect((await gemini.client.batches.list()).page).toMatchObject([{ displayName: 'lost' }]);
  },
);

test('holds a reply back until the clock moves', async () => {
  const gemini = await startGemini({ ...AT_ONCE, runningMs: HOUR_MS });
  const name = await submit(gemini, lines(['a']));
  await reached(gemini, name, ['RUNNING']);
  await gemini.control.faults({ provider, route: 'batches.retrieve', action: { delay_before_ms: HOUR_MS } });
  const late = gemini.client.batches.get({ name });
  await expect.poll(async () => (await gemini.control.remainingFaults()).length).toBe(0);
  await gemini.control.advance(HOUR_MS);
  expect((await late).name).toBe(name);
});

test.for([
  { route: 'batch:results', action: { move_lines: 1 } },
  { route: 'batch:results', action: { no_error_file: true } },
  { route: 'batches.cancel', action: { counts: 'zero' } },
])('refuses a fault that means nothing here: $route $action', async ({ route, action }) => {
  const { control } = await startGemini();
  await expect(control.faults({ provider, route, action: action as FaultAction })).rejects.toThrow('does not know');
});
