import { afterAll, expect, test } from 'vitest';
import { SECURITY_HEADERS } from '../../../api/security-headers.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const caller = await api.caller();

test.each([
  ['an answer with content', 'GET', '/v1/batch-jobs', 200],
  ['a HEAD request', 'HEAD', '/v1/batch-jobs', 200],
  ['an unknown path', 'GET', '/nothing', 404],
  ['another method', 'PATCH', '/v1/batch-jobs', 405],
  ['a method of no route', 'PROPFIND', '/v1/batch-jobs', 405],
  ['a body that is not JSON', 'POST', '/v1/batch-jobs', 400],
  ['the reference', 'GET', '/openapi.json', 200],
  ['a health check', 'GET', '/healthz', 200],
])('%s bears every security header', async (_, method, path, status) => {
  const headers = { authorization: `Bearer ${caller.key}`, origin: 'https://elsewhere.example' };
  const answer = await api.app.request(path, { method, headers });
  expect(answer.status).toBe(status);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) expect(answer.headers.get(name)).toBe(value);
  for (const name of ['server', 'x-powered-by', 'access-control-allow-origin']) {
    expect(answer.headers.has(name)).toBe(false);
  }
});

test('a refused key bears them too', async () => {
  const answer = await api.app.request('/v1/batch-jobs');
  expect(answer.status).toBe(401);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});

test('a preflight of another origin is allowed nothing', async () => {
  const answer = await api.app.request('/v1/batch-jobs', {
    method: 'OPTIONS',
    headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' },
  });
  expect(answer.status).toBe(401);
  expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test('the page of the reference runs only scripts of its own, and no other page shows it', async () => {
  const page = await api.app.request('/docs');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe-eval');
  expect(await page.text()).not.toMatch(/<script(?![^>]*src=)|\son\w+=/);
  expect(page.headers.get('x-frame-options')).toBe('DENY');
});

test.each([
  [
    'a URL of many thousand characters',
    { path: `/v1/batch-jobs?cursor=${'x'.repeat(13_000)}`, headers: {} },
    414,
    'uri_too_long',
  ],
  [
    'very many headers',
    { path: '/v1/batch-jobs', headers: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`x-${n}`, 'a'])) },
    431,
    'headers_too_large',
  ],
])('%s is refused in the envelope', async (_, { path, headers }, status, error) => {
  expect(await caller.get(path, headers)).toMatchObject({ status, json: { error } });
});
