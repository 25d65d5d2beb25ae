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
  admin_create_project: { json: { name: 'x' } },
  admin_update_project: { json: { name: 'x' } },
  admin_create_customer: { json: { name: 'x' } },
  admin_update_customer: { json: { name: 'x' } },
  admin_suspend_tenant: { json: { reason: 'x' } },
  admin_suspend_customer: { json: { reason: 'x' } },
  admin_create_key: { json: { role: 'tenant_admin', name: 'x' } },
  admin_update_policy: { json: {} },
  admin_add_credential: { json: { provider: 'openai', name: 'x', api_key: 'sk-0123456789' } },
  admin_set_legal_hold: { json: { reason: 'x' } },
  admin_delete_customer_data: { json: { reason: 'x' } },
  admin_replace_credential: { json: { api_key: 'sk-0123456789' } },
};

test('every route of admins is looked at', () => {
  expect(routes.map(([operation]) => operation).toSorted()).toEqual([
    'admin_add_capability',
    'admin_add_credential',
    'admin_add_gateway_credential',
    'admin_add_price',
    'admin_create_customer',
    'admin_create_gateway_key',
    'admin_create_key',
    'admin_create_project',
    'admin_create_tenant',
    'admin_delete_customer_data',
    'admin_get_aliases',
    'admin_get_credential',
    'admin_get_customer',
    'admin_get_customer_pricing',
    'admin_get_data_deletion',
    'admin_get_gateway_credential',
    'admin_get_gateway_key',
    'admin_get_key',
    'admin_get_policy',
    'admin_get_project',
    'admin_get_tenant',
    'admin_lift_legal_hold',
    'admin_lift_suspension',
    'admin_list_audit_log',
    'admin_list_budgets',
    'admin_list_capabilities',
    'admin_list_credentials',
    'admin_list_customers',
    'admin_list_data_deletions',
    'admin_list_gateway_credentials',
    'admin_list_gateway_keys',
    'admin_list_keys',
    'admin_list_legal_holds',
    'admin_list_prices',
    'admin_list_projects',
    'admin_list_suspensions',
    'admin_list_tenants',
    'admin_replace_credential',
    'admin_replace_gateway_credential',
    'admin_reseal',
    'admin_resume_customer',
    'admin_resume_tenant',
    'admin_revoke_credential',
    'admin_revoke_gateway_credential',
    'admin_revoke_gateway_key',
    'admin_revoke_key',
    'admin_rotate_gateway_key',
    'admin_rotate_key',
    'admin_set_aliases',
    'admin_set_budget',
    'admin_set_customer_pricing',
    'admin_set_legal_hold',
    'admin_suspend_customer',
    'admin_suspend_tenant',
    'admin_update_customer',
    'admin_update_key',
    'admin_update_policy',
    'admin_update_project',
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
