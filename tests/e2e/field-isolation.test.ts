import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../db/api-keys.ts';
import { newId } from '../../db/ids.ts';
import { eventually } from '../harness/eventually.ts';
import { Caller, type JobAnswer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { openai, prompts } from '../harness/provider-side.ts';
import { soundEnd } from '../harness/sound-end.ts';

const SECRET = 'the answer of another tenant';

let gateway: TestGateway;
let owner: { tenantId: string; caller: Caller };
let ended: string;
let running: string;
let draft: string;
let strangers: { name: string; caller: Caller }[];

beforeAll(async () => {
  gateway = await startGateway();
  owner = await gateway.newTenant();
  await gateway.database.db.pool.query(
    `INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'one', 'One'), ($1, 'two', 'Two')`,
    [owner.tenantId],
  );
  await gateway.database.db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'web', 'Web')", [
    owner.tenantId,
  ]);
  const of = { customer_id: 'one', metadata: { secret: SECRET } };
  ended = await owner.caller.submitPrompts(prompts(2, `[[sim:text=${SECRET}]]`), of);
  await owner.caller.ended(ended);
  await gateway.simulator.faults(openai('batches.create', { stuck: { state: 'in_progress', finished: 1 } }));
  running = await owner.caller.submitPrompts(prompts(2), of);
  await eventually(async () => (await owner.caller.job(running)).status === 'running');
  draft = await owner.caller.createJob(of);
  strangers = [
    { name: 'another tenant', caller: (await gateway.newTenant()).caller },
    { name: 'another customer of the tenant', caller: await keyOf({ customerId: 'two' }) },
    { name: 'a project of the tenant', caller: await keyOf({ projectId: 'web' }) },
  ];
});
afterAll(() => gateway.stop());

async function keyOf(bound: { customerId: string } | { projectId: string }): Promise<Caller> {
  const role = 'customerId' in bound ? 'customer' : 'project';
  const of = { role, name: 'test', tenantId: owner.tenantId, ...bound } as const;
  return new Caller(gateway.url, (await createKey(gateway.database.db.pool, of)).key);
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
}

/** Every route of the public reference under a path. */
async function listRoutes(prefix: string): Promise<Route[]> {
  const response = await fetch(new URL('/openapi.json', gateway.url));
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, { operationId: string }>> };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({ method, path, operation: operationId })),
    );
}

const ITEM = { custom_id: 'intruder', request: { messages: [{ role: 'user', content: 'x' }] } };
const NDJSON = { body: `${JSON.stringify(ITEM)}\n`, headers: { 'content-type': 'application/x-ndjson' } };
/** What a route needs to get as far as looking for the job. */
const BODIES: Readonly<Record<string, RequestInit & { json?: unknown }>> = {
  append_items: { json: { items: [ITEM] } },
  upload_manifest: NDJSON,
};

async function call(caller: Caller, { method, path, operation }: Route, jobId: string) {
  const filled = path.replace('{job_id}', encodeURIComponent(jobId)).replace('{custom_id}', 'row_1');
  const query = path.endsWith('/items') && method === 'get' ? '?custom_id=row_1' : '';
  const response = await caller.fetch(filled + query, { method: method.toUpperCase(), ...BODIES[operation] });
  const headers = [...response.headers.keys()].filter((name) => name !== 'date').sort();
  const text = (await response.text()).replace(/req_[0-9a-z]+/, '');
  return { status: response.status, headers, text: text.replace(/,?"request_id":"[^"]*"/, '') };
}

test('T-01: every route answers a job of somebody else exactly as one that never was, and does nothing to it', async () => {
  const routes = await listRoutes('/v1/batch-jobs/{job_id}');
  expect(routes.map(({ operation }) => operation)).toEqual(
    expect.arrayContaining([
      ...['get_status', 'cancel', 'list_results', 'get_item', 'get_item_by_query', 'ledger', 'export_usage'],
      ...['quote', 'delete', 'submit', 'validate', 'append_items', 'upload_manifest'],
    ]),
  );
  const before = await Promise.all([ended, running, draft].map(viewOf));
  for (const { caller } of strangers) {
    for (const route of routes) {
      const unknown = await call(caller, route, newId('job'));
      expect(unknown).toMatchObject({ status: 404 });
      for (const jobId of [ended, running, draft, 'job_0', 'x'.repeat(300), `${ended}0`, newId('item')]) {
        expect(await call(caller, route, jobId)).toEqual(unknown);
      }
    }
  }
  expect(await Promise.all([ended, running, draft].map(viewOf))).toEqual(before);
});

/** A job as its owner sees it, but for what the provider says in the meantime. */
async function viewOf(jobId: string): Promise<object> {
  const { progress: _, ...job } = { ...(await owner.caller.job(jobId)), estimated_completion_at: null };
  return { ...job, results: await owner.caller.results(jobId) };
}

test('T-01: lists and reports hold nothing of another tenant or customer', async () => {
  for (const { caller } of strangers) {
    for (const path of ['/v1/batch-jobs', '/v1/batch-jobs?customer_id=one', '/v1/batch-jobs?metadata[secret]=*']) {
      const response = await caller.fetch(path.replace('*', encodeURIComponent(SECRET)));
      expect(await response.json()).toMatchObject({ data: [] });
    }
    for (const path of ['/v1/usage', '/v1/usage?group_by=customer', '/v1/budgets']) {
      const text = await (await caller.fetch(path)).text();
      for (const told of [SECRET, ended, running, '"one"']) expect(text).not.toContain(told);
    }
  }
  const { data } = await owner.caller.call<{ data: JobAnswer[] }>('GET', '/v1/batch-jobs');
  expect(data.map(({ job_id }) => job_id).toSorted()).toEqual([draft, ended, running].toSorted());
});

test('T-01: no key of a tenant reaches a route of operators, and a wrong key or none reaches nothing', async () => {
  const routes = await listRoutes('/v1/operator/');
  expect(routes.length).toBeGreaterThan(0);
  for (const route of routes) {
    for (const caller of [owner.caller, ...strangers.map((stranger) => stranger.caller)]) {
      const { status, text } = await call(caller, route, ended);
      expect(status).toBe(403);
      expect(text).not.toContain('batch_');
    }
  }
  for (const key of ['', 'none', `${owner.caller.key}x`, owner.caller.key.toUpperCase()]) {
    for (const route of [...routes, ...(await listRoutes('/v1/batch-jobs'))]) {
      expect((await call(new Caller(gateway.url, key), route, ended)).status).toBe(401);
    }
  }
});

test('T-01: the owner, and the customer the job is for, see all of it', async () => {
  for (const caller of [owner.caller, await keyOf({ customerId: 'one' })]) {
    expect((await caller.job(ended)).status).toBe('completed');
    expect(JSON.stringify(await caller.results(ended))).toContain(SECRET);
  }
  await gateway.expectSound(ended);
  await owner.caller.cancel(running);
  const { job } = await soundEnd(gateway, owner.caller, running);
  expect(job).toMatchObject({ status: 'cancelled', counts: { completed: 1, cancelled: 1 } });
});
