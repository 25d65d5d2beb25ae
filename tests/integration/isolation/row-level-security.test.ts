import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../db/client.ts';
import { GATEWAY_SCOPE, inScope, type RowScope } from '../../../db/row-scope.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase, scopedDatabase } from '../../harness/postgres.ts';
import { createWorld, type TenantWorld } from './tenant-world.ts';

const OF_TENANT = 'tenant_id = $1';
const OF_JOB = 'job_id IN (SELECT job_id FROM batch_jobs WHERE tenant_id = $1)';
const OF_BUDGET = 'budget_id IN (SELECT budget_id FROM budgets WHERE tenant_id = $1)';

/** Tables with rows of tenants that the api may read, and which of them are a tenant's. */
const TENANT_TABLES: Readonly<Record<string, string>> = {
  api_keys: OF_TENANT,
  artifacts: OF_JOB,
  async_tasks: OF_TENANT,
  audit_log: OF_TENANT,
  batch_items: OF_JOB,
  batch_jobs: OF_TENANT,
  batch_provider_metadata: OF_JOB,
  batch_schedule_runs: 'schedule_id IN (SELECT schedule_id FROM batch_schedules WHERE tenant_id = $1)',
  batch_schedules: OF_TENANT,
  batch_shards: OF_JOB,
  budget_alerts: OF_BUDGET,
  budget_periods: OF_BUDGET,
  budgets: OF_TENANT,
  capability_overrides: OF_TENANT,
  customers: OF_TENANT,
  direct_webhooks: OF_TENANT,
  document_batches: OF_TENANT,
  document_rows: 'document_id IN (SELECT document_id FROM documents WHERE tenant_id = $1)',
  document_runs: OF_TENANT,
  document_uploads: OF_TENANT,
  document_webhooks: OF_TENANT,
  documents: OF_TENANT,
  events: OF_TENANT,
  holds: OF_JOB,
  idempotency_keys: 'owner::jsonb ->> 0 = $1',
  item_outcomes: OF_JOB,
  item_requests: OF_JOB,
  item_results: OF_JOB,
  job_estimates: OF_JOB,
  job_item_groups: OF_JOB,
  job_progress: OF_JOB,
  job_rollups: OF_JOB,
  job_submissions: OF_JOB,
  ledger_entries: 'subject_id IN (SELECT job_id FROM batch_jobs WHERE tenant_id = $1)',
  legal_holds: OF_TENANT,
  operator_acts: OF_JOB,
  output_history: OF_TENANT,
  price_overrides: OF_TENANT,
  projects: OF_TENANT,
  refusal_rollups: OF_TENANT,
  retry_waves: OF_JOB,
  spending_suspensions: OF_TENANT,
  stage_times: OF_JOB,
  task_replies: OF_TENANT,
  task_slots: OF_TENANT,
  task_transitions: 'task_id IN (SELECT task_id FROM async_tasks WHERE tenant_id = $1)',
  tenants: OF_TENANT,
  unmatched_lines: OF_JOB,
  webhook_attempts: 'delivery_id IN (SELECT delivery_id FROM webhook_deliveries WHERE tenant_id = $1)',
  webhook_deliveries: OF_TENANT,
  webhook_endpoints: OF_TENANT,
  webhook_secrets: OF_TENANT,
};
/** Of the gateway itself, or of no use to a call of a tenant: refused to it. */
const GATEWAY_TABLES = [
  'capacity_accounts',
  'data_deletions',
  'document_repairs',
  'provider_adjustments',
  'provider_credentials',
  'provider_webhook_events',
  'result_stage',
  'sweep_findings',
];
/** Hold nothing of a tenant's; every call may use them. */
const COMMON_TABLES = ['rate_limits'];

const { db, url, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const scoped = scopedDatabase(db);
let a: TenantWorld;
let b: TenantWorld;
beforeAll(async () => {
  a = await createWorld(db, api, 'alpha');
  b = await createWorld(db, api, 'beta');
}, 60_000);

type Work<Result> = (client: pg.PoolClient) => Promise<Result>;

/** Runs statements in a scope and takes back what they did. */
async function inTrial<Result>(scope: RowScope | null, work: Work<Result>): Promise<Result> {
  const client = await (scope === null ? scoped.pool.connect() : inScope(scope, () => scoped.pool.connect()));
  try {
    await client.query('BEGIN');
    return await work(client);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

const scopeOf = ({ tenantId }: TenantWorld): RowScope => ({ kind: 'tenant', tenantId });

async function rowsOf(table: string, { tenantId }: TenantWorld): Promise<object[]> {
  const { rows } = await db.pool.query(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE ${TENANT_TABLES[table]}`, [
    tenantId,
  ]);
  return rows.map(({ row }) => row);
}

async function privileges(role: string): Promise<Map<string, string[]>> {
  const { rows } = await db.pool.query<{ name: string; privileges: string[] }>(
    `SELECT relname AS name, array(SELECT p FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN']) p
       WHERE has_table_privilege($1, c.oid, p)) AS privileges
     FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    [role],
  );
  return new Map(rows.map(({ name, privileges: held }) => [name, held]));
}

const byText = (rows: object[]) => rows.map((row) => JSON.stringify(row)).toSorted();

test('every table is known to be of tenants, of the gateway, or common', async () => {
  const known = [...Object.keys(TENANT_TABLES), ...GATEWAY_TABLES, ...COMMON_TABLES, '_prisma_migrations'];
  expect([...(await privileges('batchgate_api')).keys()].toSorted()).toEqual(known.toSorted());
});

test('every table that calls of tenants may use is under row-level security, but for the common ones', async () => {
  const held = await privileges('batchgate_api');
  const usable = [...held].filter(([, list]) => list.length > 0).map(([name]) => name);
  expect(usable.toSorted()).toEqual([...Object.keys(TENANT_TABLES), ...COMMON_TABLES].toSorted());
  const { rows } = await db.pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c WHERE c.relrowsecurity AND relnamespace = 'public'::regnamespace
       AND EXISTS (SELECT FROM pg_policies p WHERE p.tablename = c.relname AND p.roles = '{batchgate_api}')`,
  );
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(TENANT_TABLES)));
});

test.each(['batchgate_api', 'batchgate_operator'])(
  '%s owns nothing, and may change nothing that is append-only',
  async (role) => {
    const { rows } = await db.pool.query(
      `SELECT (SELECT count(*)::int FROM pg_class WHERE relowner = r.oid) AS owned, rolsuper, rolbypassrls, rolcanlogin, rolcreaterole
     FROM pg_roles r WHERE rolname = $1`,
      [role],
    );
    expect(rows).toEqual([
      { owned: 0, rolsuper: false, rolbypassrls: false, rolcanlogin: false, rolcreaterole: false },
    ]);
    const held = await privileges(role);
    for (const table of [
      'audit_log',
      'events',
      'item_outcomes',
      'ledger_entries',
      'operator_acts',
      'provider_adjustments',
    ]) {
      expect([table, (held.get(table) ?? []).filter((one) => !['SELECT', 'INSERT'].includes(one))]).toEqual([
        table,
        [],
      ]);
    }
    expect(held.get('_prisma_migrations')).toEqual([]);
    for (const list of held.values())
      expect(list.filter((one) => ['TRUNCATE', 'TRIGGER', 'REFERENCES'].includes(one))).toEqual([]);
  },
);

test('of a partition only items and requests may be written, and nothing read', async () => {
  for (const role of ['batchgate_api', 'batchgate_operator']) {
    const { rows } = await db.pool.query(
      `SELECT regexp_replace(relname, '_\\d+$', '') AS name, string_agg(DISTINCT p, ' ') AS privileges FROM pg_class c,
         unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) p
       WHERE relispartition AND relkind = 'r' AND has_table_privilege($1, c.oid, p) GROUP BY 1 ORDER BY 1`,
      [role],
    );
    expect(rows).toEqual([
      { name: 'batch_items', privileges: 'INSERT' },
      { name: 'item_requests', privileges: 'INSERT' },
    ]);
  }
});

test('a partition that is made later is held in the same way', async () => {
  await db.pool.query('SELECT ensure_partitions(203001)');
  const { rows } = await db.pool.query(
    "SELECT has_table_privilege('batchgate_api', 'batch_items_203001', 'INSERT') AS ins, has_table_privilege('batchgate_api', 'batch_items_203001', 'SELECT') AS sel",
  );
  expect(rows).toEqual([{ ins: true, sel: false }]);
});

describe.each(Object.keys(TENANT_TABLES))('a statement on %s that forgets its WHERE', (table) => {
  test('reads the tenant’s own rows, and outside of a scope none', async () => {
    const mine = await rowsOf(table, a);
    expect(mine.length).toBeGreaterThan(0);
    expect((await rowsOf(table, b)).length).toBeGreaterThan(0);
    const read: Work<object[]> = async (client) =>
      (await client.query(`SELECT to_jsonb(t) AS row FROM ${table} t`)).rows.map(({ row }) => row);
    expect(byText(await inTrial(scopeOf(a), read))).toEqual(byText(mine));
    expect(await inTrial(null, read)).toEqual([]);
    expect(await inTrial({ kind: 'tenant', tenantId: '' }, read)).toEqual([]);
    const all = await inTrial(GATEWAY_SCOPE, read);
    expect(byText(all)).toEqual(expect.arrayContaining([...byText(mine), ...byText(await rowsOf(table, b))]));
  });

  test('changes and deletes no row of another tenant', async () => {
    const held = (await privileges('batchgate_api')).get(table) ?? [];
    const { rows } = await db.pool.query(`SELECT ctid::text AS at FROM ${table} WHERE ${TENANT_TABLES[table]}`, [
      b.tenantId,
    ]);
    const { rows: columns } = await db.pool.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND attidentity = '' ORDER BY attnum LIMIT 1`,
      [table],
    );
    const changes = [
      ['UPDATE', `UPDATE ${table} SET ${columns[0]?.name} = ${columns[0]?.name} WHERE ctid = ANY ($1::tid[])`],
      ['DELETE', `DELETE FROM ${table} WHERE ctid = ANY ($1::tid[])`],
    ] as const;
    for (const [privilege, sql] of changes) {
      const touched = inTrial(scopeOf(a), async (client) => {
        const own = await client.query(`SELECT ctid::text AS at FROM ${table}`);
        const others = rows.map(({ at }) => at).filter((at) => !own.rows.some((row) => row.at === at));
        return (await client.query(sql, [others])).rowCount;
      });
      if (held.includes(privilege)) expect([privilege, await touched]).toEqual([privilege, 0]);
      else await expect(touched).rejects.toThrow('permission denied');
    }
  });

  test('inserts no row for another tenant', async () => {
    const { rows } = await db.pool.query(
      `SELECT to_jsonb(t) AS row FROM ${table} t WHERE ${TENANT_TABLES[table]} LIMIT 1`,
      [b.tenantId],
    );
    const insert = inTrial(scopeOf(a), (client) =>
      client.query(
        `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::${table}, $1)`,
        [JSON.stringify(rows[0].row)],
      ),
    );
    await expect(insert).rejects.toThrow(/violates row-level security policy|permission denied/);
  });
});

test.each(GATEWAY_TABLES)('%s is refused to a call of a tenant', async (table) => {
  await expect(inTrial(scopeOf(a), (client) => client.query(`SELECT FROM ${table}`))).rejects.toThrow(
    'permission denied',
  );
});

test('what goes past the policies is the look-up of a key by its hash, and the lock on budgets', async () => {
  const { rows } = await db.pool.query(
    `SELECT proname, proconfig FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const proconfig = ['search_path=pg_catalog, public, pg_temp'];
  expect(rows).toEqual([
    { proname: 'find_principal', proconfig },
    { proname: 'lock_budgets', proconfig },
  ]);
  const shadowed = await inTrial(scopeOf(a), async (client) => {
    await client.query('CREATE TEMPORARY TABLE api_keys (LIKE public.api_keys)');
    return (await client.query("SELECT * FROM find_principal('\\x00', now(), now())")).rows;
  });
  expect(shadowed).toEqual([]);
});

test('a call of a tenant locks its own budgets, and passes by those of others', async () => {
  const isLocked = (budgetId: string) =>
    db.pool.query('SELECT 1 FROM budgets WHERE budget_id = $1 FOR NO KEY UPDATE NOWAIT', [budgetId]).then(
      () => false,
      () => true,
    );
  const locked = await inTrial(scopeOf(a), async (client) => {
    await client.query('SELECT lock_budgets($1)', [[a.budgetId, b.budgetId]]);
    return [await isLocked(a.budgetId), await isLocked(b.budgetId)];
  });
  expect(locked).toEqual([true, false]);
});

test('an api whose login role is no more than a member of the two roles answers all the same', async () => {
  const login = `member_${new URL(url).pathname.slice(6)}`;
  await db.pool.query(
    `CREATE ROLE ${login} LOGIN PASSWORD 'x'; GRANT batchgate_api, batchgate_operator TO ${login} WITH INHERIT FALSE`,
  );
  const memberUrl = new URL(url);
  memberUrl.username = login;
  memberUrl.password = 'x';
  const member = openDatabase({ url: memberUrl.href, poolSize: 2, isScoped: true, applicationName: 'member' });
  try {
    const { app } = createTestApi(db, { wrap: (dependencies) => ({ ...dependencies, db: member }) });
    const call = (path: string, key: string) => app.request(path, { headers: { authorization: `Bearer ${key}` } });
    expect((await call(`/v1/batch-jobs/${a.jobs.ended}/results`, a.admin.key)).status).toBe(200);
    expect((await call(`/v1/batch-jobs/${a.jobs.ended}/results`, b.admin.key)).status).toBe(404);
    const operator = await api.caller('operator');
    expect((await call(`/v1/operator/jobs/${a.jobs.ended}`, operator.key)).status).toBe(200);
  } finally {
    await member.close();
    await db.pool.query(`DROP ROLE ${login}`);
  }
});
