import { randomUUID } from 'node:crypto';
import { Customer, CustomerList, Project, ProjectList } from '../contracts/account.ts';
import { ApiKey, ApiKeyList, NewApiKey } from '../contracts/api-key.ts';
import { AuditLog } from '../contracts/audit-log.ts';
import { Tenant, TenantList } from '../contracts/tenant.ts';
import { TenantPolicy } from '../contracts/tenant-policy.ts';
import type { Client, Query } from './client.ts';
import { pathSegment } from './gateway.ts';

const TENANTS = '/v1/admin/tenants';

/** What is made or changed; the gateway knows what is wrong with it. */
type Body = Readonly<Record<string, unknown>>;

/** The calls about who may do what: tenants, their projects and customers, keys, policies and the audit log. */
export function identityCalls(client: Client) {
  const create = (json: Body) => ({ json, idempotencyKey: randomUUID() });
  return {
    listTenants: (query: Query) => client.get(TENANTS, TenantList, query),
    createTenant: (body: Body) => client.send('POST', TENANTS, Tenant, create(body)),
    suspendTenant: (tenantId: string, reason: string) =>
      client.send('POST', `${tenantPath(tenantId)}/suspend`, Tenant, { json: { reason } }),
    resumeTenant: (tenantId: string) => client.send('POST', `${tenantPath(tenantId)}/resume`, Tenant),
    listProjects: (tenantId: string, query: Query) => client.get(projectPath(tenantId), ProjectList, query),
    getProject: (tenantId: string, id: string) => client.get(projectPath(tenantId, id), Project),
    createProject: (tenantId: string, body: Body) => client.send('POST', projectPath(tenantId), Project, create(body)),
    renameProject: (tenantId: string, id: string, name: string) =>
      client.send('PATCH', projectPath(tenantId, id), Project, { json: { name } }),
    listCustomers: (tenantId: string, query: Query) => client.get(customerPath(tenantId), CustomerList, query),
    getCustomer: (tenantId: string, id: string) => client.get(customerPath(tenantId, id), Customer),
    createCustomer: (tenantId: string, body: Body) =>
      client.send('POST', customerPath(tenantId), Customer, create(body)),
    renameCustomer: (tenantId: string, id: string, name: string) =>
      client.send('PATCH', customerPath(tenantId, id), Customer, { json: { name } }),
    suspendCustomer: (tenantId: string, id: string, reason: string) =>
      client.send('POST', `${customerPath(tenantId, id)}/suspend`, Customer, { json: { reason } }),
    resumeCustomer: (tenantId: string, id: string) =>
      client.send('POST', `${customerPath(tenantId, id)}/resume`, Customer),
    listKeys: (tenantId: string | undefined, query: Query) => client.get(keyPath(tenantId), ApiKeyList, query),
    getKey: (tenantId: string | undefined, id: string) => client.get(keyPath(tenantId, id), ApiKey),
    createKey: (tenantId: string | undefined, body: Body) =>
      client.send('POST', keyPath(tenantId), NewApiKey, create(body)),
    rotateKey: (tenantId: string | undefined, id: string, body: Body) =>
      client.send('POST', `${keyPath(tenantId, id)}/rotate`, NewApiKey, create(body)),
    revokeKey: (tenantId: string | undefined, id: string) =>
      client.send('POST', `${keyPath(tenantId, id)}/revoke`, ApiKey),
    getPolicy: (tenantId: string) => client.get(`${tenantPath(tenantId)}/policy`, TenantPolicy),
    updatePolicy: (tenantId: string, change: Body) =>
      client.send('PATCH', `${tenantPath(tenantId)}/policy`, TenantPolicy, { json: change }),
    listAudit: (query: Query) => client.get('/v1/admin/audit-log', AuditLog, query),
  };
}

function tenantPath(tenantId: string): string {
  return `${TENANTS}/${pathSegment(tenantId)}`;
}

function projectPath(tenantId: string, id?: string): string {
  return withId(`${tenantPath(tenantId)}/projects`, id);
}

function customerPath(tenantId: string, id?: string): string {
  return withId(`${tenantPath(tenantId)}/customers`, id);
}

/** The gateway's own keys where no tenant is named. */
function keyPath(tenantId: string | undefined, id?: string): string {
  return withId(tenantId === undefined ? '/v1/admin/keys' : `${tenantPath(tenantId)}/keys`, id);
}

function withId(path: string, id: string | undefined): string {
  return id === undefined ? path : `${path}/${pathSegment(id)}`;
}
