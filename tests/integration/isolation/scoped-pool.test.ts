import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openDatabase } from '../../../db/client.ts';
import { bindScope, GATEWAY_SCOPE, inScope, inWhicheverScope, type RowScope } from '../../../db/row-scope.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { eventually } from '../../harness/eventually.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { url, drop } = await createTestDatabase();
const scoped = openDatabase({ url, poolSize: 1, isScoped: true, applicationName: 'scoped' });
afterAll(async () => {
  await scoped.close();
  await drop();
});

/** What the pool's one connection was asked. */
const asked: string[] = [];
scoped.pool.on('connect', (client: pg.PoolClient) => {
  const { query } = client;
  client.query = ((...given: Parameters<typeof query>) => {
    const first: unknown = given[0];
    asked.push(typeof first === 'string' ? first : String((first as { text: string }).text));
    return query.apply(client, given);
  }) as typeof query;
});
beforeEach(() => {
  asked.length = 0;
});

const A: RowScope = { kind: 'tenant', tenantId: 'tenant_a' };
const B: RowScope = { kind: 'tenant', tenantId: 'tenant_b' };
const WHO = "SELECT current_user AS role, current_setting('batchgate.tenant_id') AS tenant";

async function who(): Promise<{ role: string; tenant: string }> {
  const { rows } = await scoped.pool.query(WHO);
  return rows[0];
}

test('a statement speaks as its caller’s scope says, and outside of any as nobody', async () => {
  expect(await inScope(A, who)).toEqual({ role: 'batchgate_api', tenant: 'tenant_a' });
  expect(await inScope(GATEWAY_SCOPE, who)).toEqual({ role: 'batchgate_operator', tenant: '' });
  expect(await inScope(B, who)).toEqual({ role: 'batchgate_api', tenant: 'tenant_b' });
  expect(await who()).toEqual({ role: 'batchgate_api', tenant: '' });
});

test('only a change of scope costs a statement', async () => {
  await inScope(A, who);
  asked.length = 0;
  await inScope(A, async () => {
    await who();
    await inTransaction(scoped, (client) => client.query(WHO));
  });
  expect(asked).toEqual([WHO, 'BEGIN', WHO, 'COMMIT']);
  await inWhicheverScope(who);
  expect(asked.filter((text) => text.includes('set_config'))).toEqual([]);
  await inScope(B, who);
  expect(asked.filter((text) => text.includes('set_config'))).toHaveLength(1);
});

test('a transaction that is rolled back leaves the next caller its own scope', async () => {
  const failing = inScope(A, () =>
    inTransaction(scoped, async (client) => {
      await client.query("SELECT set_config('batchgate.tenant_id', 'tenant_c', true)");
      throw new Error('rolled back');
    }),
  );
  await expect(failing).rejects.toThrow('rolled back');
  expect(await inScope(A, who)).toEqual({ role: 'batchgate_api', tenant: 'tenant_a' });
});

test('callers that wait for a connection get it in their own scope', async () => {
  const scopes = [A, B, GATEWAY_SCOPE, A, B, A];
  const seen = await Promise.all(scopes.map((scope) => inScope(scope, who)));
  expect(seen.map(({ tenant }) => tenant)).toEqual(['tenant_a', 'tenant_b', '', 'tenant_a', 'tenant_b', 'tenant_a']);
});

test('what is called later by somebody else has no scope unless it is bound', async () => {
  const later = inScope(A, () => [who, bindScope(who)] as const);
  await delay(1);
  expect(await later[0]()).toMatchObject({ tenant: '' });
  expect(await later[1]()).toMatchObject({ tenant: 'tenant_a' });
});

test('a connection that cannot take on the role is not handed out', async () => {
  const client = await inScope(A, () => scoped.pool.connect());
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  client.release();
  const other = openDatabase({ url, poolSize: 1, applicationName: 'ends others' });
  await other.pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
  await other.close();
  await eventually(() => scoped.pool.totalCount === 0);
  expect(await inScope(B, who)).toMatchObject({ tenant: 'tenant_b' });
});
