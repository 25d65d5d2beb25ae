import { afterAll, expect, test } from 'vitest';
import type { ApiDependencies } from '../../../api/dependencies.ts';
import { referenceDocument } from '../../../api/reference.ts';
import type { Role } from '../../../domain/principal.ts';
import { type ApiCaller, createTestApi, type TestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const SECRET = 'postgres://root:hunter2@10.1.2.3/prod';
const BREAKABLE = [
  ...['catalogue', 'cipher', 'workflows', 'scheduleClock', 'allowedFetchHosts', 'providers', 'providerWebhooks'],
  ...['intake', 'now'],
] as const satisfies readonly string[];

/** Whatever is asked of it throws, at once. */
function broken(): never {
  const fail = () => {
    throw new TypeError(`cannot read ${SECRET} in statement SELECT 1`);
  };
  return new Proxy(fail, { get: fail, apply: fail, has: fail, ownKeys: fail }) as never;
}

/** A database that knows keys and fails at everything else. */
function brokenDatabase(): ApiDependencies['db'] {
  const fail = () => Promise.reject(Object.assign(new Error(`relation of ${SECRET} is gone`), { code: '42P01' }));
  const query = (sql: unknown, ...rest: unknown[]) =>
    String(sql).includes('api_keys') ? Reflect.apply(db.pool.query, db.pool, [sql, ...rest]) : fail();
  const pool = new Proxy(db.pool, { get: (_, name) => (name === 'query' ? query : fail) });
  return { ...db, pool, prisma: broken() };
}

const operations = Object.entries(referenceDocument().paths ?? {}).flatMap(([path, item]) =>
  Object.keys(item ?? {}).map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, 'x') })),
);
const ROLES: readonly Role[] = ['tenant_admin', 'operator', 'gateway_admin'];
const BODY = {
  json: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', reason: 'r', name: 'n' },
};

/** As each surface tells a fault of ours. */
function faultOf(path: string, requestId: string | null): object {
  const message = expect.any(String);
  if (path.startsWith('/v1/async/'))
    return { error: { code: expect.stringMatching(/^(INTERNAL|UNAVAILABLE)$/), message } };
  const error = expect.stringMatching(/^(internal|dependency_unavailable)$/);
  return { error, message, request_id: requestId };
}

async function callAll(api: TestApi): Promise<number> {
  const callers: ApiCaller[] = [];
  for (const role of ROLES) callers.push(await api.caller(role));
  let faults = 0;
  for (const { method, path } of operations) {
    for (const caller of callers) {
      const answer = await caller.call(method, path, method === 'GET' ? {} : BODY);
      expect(answer.text, `${method} ${path}`).not.toMatch(
        /hunter2|10\.1\.2\.3|SELECT|TypeError|\bat .*\.ts|node_modules/,
      );
      if (answer.status < 500) continue;
      faults += 1;
      if (path === '/readyz') continue;
      expect(answer.json, `${method} ${path}`).toEqual(faultOf(path, answer.headers.get('x-request-id')));
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  }
  return faults;
}

test.each(BREAKABLE)('a fault of %s is told without its text on every route', async (name) => {
  await callAll(createTestApi(db, { wrap: (dependencies) => ({ ...dependencies, [name]: broken() }) }));
});

test('a fault of the database is told without its text on every route', async () => {
  const api = createTestApi(db, { wrap: (dependencies) => ({ ...dependencies, db: brokenDatabase() }) });
  expect(await callAll(api)).toBeGreaterThan(30);
});

test('a fault while limits are looked at is told without its text', async () => {
  const limits = broken();
  const api = createTestApi(db, { wrap: (dependencies) => ({ ...dependencies, limits }) });
  expect(await callAll(api)).toBeGreaterThan(30);
});
