import { afterAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../api/openapi.ts';
import { newId } from '../../../db/ids.ts';
import { type CallOptions, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const tenantId = await api.tenant();
const admin = await api.caller('gateway_admin');

const others = [
  ['tenant_admin', await api.caller('tenant_admin', { tenantId })],
  ['project', await api.caller('project', { tenantId, projectId: 'web' })],
  ['customer', await api.caller('customer', { tenantId, customerId: 'one' })],
  ['operator', await api.caller('operator')],
] as const;

const routes = Object.entries(openApiDocument(api.app).paths ?? {})
  .filter(([path]) => path.startsWith('/v1/admin/'))
  .flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId }]) => [String(operationId), method.toUpperCase(), path] as const),
  );

/** What a route needs to get as far as looking for the tenant, key or override. */
const CALLS: { readonly [operation: string]: CallOptions } = {
  admin_set_aliases: { json: { aliases: {} } },
  admin_update_tenant: { json: {} },
  admin_update_key: { json: {} },
  admin_set_budget: { json: { scope: 'tenant', period: 'total', limit: '1.00' } },
  admin_set_customer_pricing: { json: { markup_percent: '10' } },
  admin_lift_suspension: { json: { reason: 'paid' } },
};

test('every route of admins is looked at', () => {
  expect(routes.map(([operation]) => operation).toSorted()).toEqual([
    'admin_add_capability',
    'admin_add_price',
    'admin_get_aliases',
    'admin_get_customer_pricing',
    'admin_get_tenant',
    'admin_lift_suspension',
    'admin_list_budgets',
    'admin_list_capabilities',
    'admin_list_keys',
    'admin_list_prices',
    'admin_list_suspensions',
    'admin_set_aliases',
    'admin_set_budget',
    'admin_set_customer_pricing',
    'admin_update_key',
    'admin_update_tenant',
    'admin_withdraw_capability',
    'admin_withdraw_price',
  ]);
});

describe.each(routes)('%s', (operation, method, path) => {
  test.each(others)('refuses a key of the role %s before anything is looked at', async (_, caller) => {
    const filled = path.replace('{tenant_id}', tenantId).replaceAll(/\{\w+\}/g, 'x');
    for (const options of [CALLS[operation], { body: '{', headers: { 'content-type': 'text/plain' } }]) {
      if (method === 'GET' && options?.body !== undefined) continue;
      const answer = await caller.call(method, filled, options);
      expect(answer).toMatchObject({ status: 403, json: { error: 'forbidden' } });
      expect(answer.json.message).toBe('This call is for keys of the roles gateway_admin.');
    }
  });
});

test.each(routes.filter(([, , path]) => path.includes('{tenant_id}')))(
  '%s answers 404 for a tenant that is not there',
  async (operation, method, path) => {
    const ids = [newId('tenant'), 'x', '%00', '%ED%A0%80'];
    const answers = ids.map(async (id) => {
      const filled = path.replace('{tenant_id}', id).replaceAll(/\{\w+\}/g, 'x');
      const { status, json } = await admin.call(method, filled, CALLS[operation]);
      return [status, json.error, json.message];
    });
    expect(await Promise.all(answers)).toEqual(ids.map(() => [404, 'not_found', 'No such tenant.']));
  },
);

test.each(routes.filter(([, , path]) => path.includes('{override_id}')))(
  '%s answers 404 for an override that is not there',
  async (_operation, method, path) => {
    const ids = [newId('priceOverride'), newId('capabilityOverride'), newId('job'), 'x', '%00'];
    const answers = ids.map(async (id) => {
      const { status, json } = await admin.call(method, path.replace('{override_id}', id));
      return [status, json.error, json.message];
    });
    expect(await Promise.all(answers)).toEqual(ids.map(() => [404, 'not_found', 'No such override.']));
  },
);
