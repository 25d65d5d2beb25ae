import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openApiDocument } from '../../../api/openapi.ts';
import { newId } from '../../../db/ids.ts';
import { type ApiCaller, type CallOptions, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { checkOf, OBJECTS, type PathIds, ROUTE_CHECKS, type Stranger } from './route-table.ts';
import { createWorld, type TenantWorld } from './tenant-world.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

interface Route {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
}

const ROUTES: readonly Route[] = Object.entries(openApiDocument(api.app).paths ?? {}).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({
    operation: String(operationId),
    method: method.toUpperCase(),
    path,
  })),
);
const of = (kind: string) => ROUTES.filter(({ operation, path }) => checkOf(operation, path)?.kind === kind);

let owner: TenantWorld;
let outsider: TenantWorld;
let strangers: readonly Stranger[];
let before: Record<string, string>;
beforeAll(async () => {
  owner = await createWorld(db, api, 'alpha');
  outsider = await createWorld(db, api, 'beta');
  const { tenantId } = owner;
  await db.pool.query("INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, 'other', 'Other')", [tenantId]);
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'other', 'Other')", [tenantId]);
  const other = { tenantId: outsider.tenantId };
  await db.pool.query('INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, $2, $2)', [
    other.tenantId,
    owner.projectId,
  ]);
  await db.pool.query('INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, $2, $2)', [
    other.tenantId,
    owner.customerId,
  ]);
  const { projectId, customerId } = owner;
  strangers = [
    { name: 'another tenant', caller: outsider.admin, isInside: false },
    {
      name: 'a project of that name in another tenant',
      caller: await api.caller('project', { ...other, projectId }),
      isInside: false,
    },
    {
      name: 'a customer of that name in another tenant',
      caller: await api.caller('customer', { ...other, customerId }),
      isInside: false,
    },
    {
      name: 'another project',
      caller: await api.caller('project', { tenantId, projectId: 'other' }),
      isInside: true,
    },
    {
      name: 'another customer',
      caller: await api.caller('customer', { tenantId, customerId: 'other' }),
      isInside: true,
    },
  ];
  before = await rowsOfOwner();
}, 60_000);

/** Everything that is stored of the owner, but for when its keys were last used, and exports of their own by its other ones. */
async function rowsOfOwner(): Promise<Record<string, string>> {
  const { rows: tables } = await db.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname NOT IN ('_prisma_migrations', 'rate_limits', 'api_keys') ORDER BY 1`,
  );
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await db.pool.query(`SELECT to_jsonb(t)::text AS row FROM ${name} t ORDER BY 1`);
    const uuids = await uuidsOfOwner();
    found[name] = rows
      .map(({ row }) => String(row))
      .filter(
        (row) =>
          !row.includes('"usage.exported"') &&
          [...uuids, owner.tenantId, owner.budgetId, owner.scheduleId].some((id) => row.includes(id)),
      )
      .join('\n');
  }
  return found;
}

async function uuidsOfOwner(): Promise<string[]> {
  const { rows } = await db.pool.query('SELECT job_id::text AS id FROM batch_jobs WHERE tenant_id = $1', [
    owner.tenantId,
  ]);
  return rows.map(({ id }) => id);
}

function pathOf({ path }: Route, ids: PathIds): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'item-of-alpha-1'));
}

/** Everything of an answer that a caller can see, but for the id and the standing of the request itself. */
async function answerTo(caller: ApiCaller, method: string, path: string, call: CallOptions = {}) {
  const { status, headers, text } = await caller.call(method, path, call);
  const told = [...headers].filter(([name]) => !/^(?:x-request-id|ratelimit|ratelimit-policy|date)$/.test(name));
  return { status, headers: told, text: text.replace(/"req_[0-9a-z]+"/, '""') };
}

test('every route of the reference is looked at, and none that is not there', () => {
  expect(ROUTES.filter(({ operation, path }) => checkOf(operation, path) === undefined)).toEqual([]);
  const known = new Set(ROUTES.map(({ operation }) => operation));
  expect(Object.keys(ROUTE_CHECKS).filter((operation) => !known.has(operation))).toEqual([]);
});

describe.each(of('object'))('$operation', (route) => {
  const check = checkOf(route.operation, route.path);
  if (check?.kind !== 'object') throw new Error('not by id');
  const { parameter, prefix, ids } = OBJECTS[check.of];
  const query = check.query ?? '';
  const ask = (caller: ApiCaller, id: string) => {
    const path = `${pathOf(route, { [parameter]: id })}${query.replace('{id}', encodeURIComponent(id))}`;
    return answerTo(caller, route.method, path, check.call);
  };

  test('answers somebody else’s id as one that never was, by the same statements', async () => {
    for (const { name, caller } of strangers) {
      const never = newId(prefix as 'job');
      const unknown = await ask(caller, never);
      const isRefusedByRole = unknown.status === 403 && unknown.text.includes('This call is for keys of the roles');
      expect([name, unknown.status]).toEqual([name, isRefusedByRole ? 403 : 404]);
      const asked = await statementsOf(() => ask(caller, newId(prefix as 'job')));
      for (const id of ids(owner)) {
        expect([name, await ask(caller, id)]).toEqual([name, unknown]);
        expect([name, await statementsOf(() => ask(caller, id))]).toEqual([name, asked]);
      }
      for (const id of [newId('event'), 'x', '\u0000', `${ids(owner)[0]}0`, `${ids(owner)[0]?.toUpperCase()}`]) {
        expect([name, id, await ask(caller, id)]).toEqual([name, id, unknown]);
      }
    }
  });
});

/** The texts of what was asked of the database meanwhile: what takes the time of an answer. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    const texts = query.mock.calls.map(([first]: unknown[]) =>
      typeof first === 'string' ? first : String((first as { text?: string }).text),
    );
    // Told to a connection only where it was last used for somebody else; and the caller's own policy, read every few seconds.
    return texts.filter((text) => !text.includes('set_config') && !/FROM tenants WHERE tenant_id = \$1$/.test(text));
  } finally {
    query.mockRestore();
  }
}

describe.each(of('list'))('$operation', (route) => {
  test('holds nothing of somebody else’s', async () => {
    const check = checkOf(route.operation, route.path);
    if (check?.kind !== 'list') throw new Error('no list');
    for (const { name, caller, isInside } of strangers) {
      for (const query of check.queries) {
        const path = `${route.path}?${query(owner)}`;
        const { status, text } = await caller.call(route.method, path);
        expect([name, path, status < 500]).toEqual([name, path, true]);
        // What was asked for is not told by being repeated.
        const asked = decodeURIComponent(query(owner));
        const marks = (isInside ? owner.narrowMarks : owner.marks).filter((mark) => !asked.includes(mark));
        const own = new Set(isNamesake(name) ? [owner.projectId, owner.customerId] : []);
        expect([name, path, marks.filter((mark) => !own.has(mark) && text.includes(mark))]).toEqual([name, path, []]);
      }
    }
  });
});

const isNamesake = (name: string) => name.includes('of that name');

describe.each(of('create'))('$operation', (route) => {
  test('naming somebody else’s job is as naming one that never was', async () => {
    const check = checkOf(route.operation, route.path);
    if (check?.kind !== 'create') throw new Error('makes nothing');
    for (const { name, caller } of strangers) {
      for (const naming of check.naming) {
        const unknown = await answerTo(caller, route.method, route.path, { json: naming(newId('job')) });
        expect(unknown.status).toBe(404);
        for (const id of Object.values(owner.jobs)) {
          expect([name, await answerTo(caller, route.method, route.path, { json: naming(id) })]).toEqual([
            name,
            unknown,
          ]);
        }
      }
    }
  });
});

describe.each(of('gateway'))('$operation', (route) => {
  test('is refused to every key of a tenant alike, whatever is in the path', async () => {
    const real = {
      tenant_id: owner.tenantId,
      job_id: owner.jobs.ended,
      key_id: owner.keyId,
      project_id: owner.projectId,
      customer_id: owner.customerId,
      credential_id: owner.credentialId,
      suspension_id: owner.suspensionId,
    };
    for (const caller of [
      owner.admin,
      owner.project,
      owner.customer,
      ...strangers.map((stranger) => stranger.caller),
    ]) {
      const answer = await answerTo(caller, route.method, pathOf(route, real));
      expect(answer.status).toBe(403);
      expect(answer).toEqual(await answerTo(caller, route.method, pathOf(route, {})));
    }
  });
});

test('all these calls changed nothing of the owner’s', async () => {
  const after = await rowsOfOwner();
  for (const [table, rows] of Object.entries(before)) expect([table, after[table]]).toEqual([table, rows]);
});

test('the owner’s keys, and those of its project and customer, are answered', async () => {
  for (const caller of [owner.admin, owner.project, owner.customer]) {
    expect((await caller.get(`/v1/batch-jobs/${owner.jobs.ended}`)).status).toBe(200);
    expect((await caller.get('/v1/batch-jobs')).json.data).toHaveLength(4);
  }
});
