import { randomUUID } from 'node:crypto';
import { DataDeletion } from '../contracts/data-deletion.ts';
import { LegalHold, LegalHoldList } from '../contracts/legal-hold.ts';
import type { Client, Query } from './client.ts';
import { pathSegment } from './gateway.ts';

type Body = Readonly<Record<string, unknown>>;

/** The calls about content that has to stay, or to go. */
export function retentionCalls(client: Client) {
  const create = (json: Body) => ({ json, idempotencyKey: randomUUID() });
  return {
    listHolds: (tenantId: string, query: Query) => client.get(holdPath(tenantId), LegalHoldList, query),
    setHold: (tenantId: string, body: Body) => client.send('POST', holdPath(tenantId), LegalHold, create(body)),
    liftHold: (tenantId: string, holdId: string) =>
      client.send('DELETE', `${holdPath(tenantId)}/${pathSegment(holdId)}`, LegalHold),
    deleteCustomerData: (tenantId: string, customerId: string, body: Body) =>
      client.send('POST', `${customerPath(tenantId, customerId)}/delete-data`, DataDeletion, create(body)),
    getDataDeletion: (tenantId: string, customerId: string, deletionId: string) =>
      client.get(`${customerPath(tenantId, customerId)}/data-deletions/${pathSegment(deletionId)}`, DataDeletion),
  };
}

function holdPath(tenantId: string): string {
  return `/v1/admin/tenants/${pathSegment(tenantId)}/legal-holds`;
}

function customerPath(tenantId: string, customerId: string): string {
  return `/v1/admin/tenants/${pathSegment(tenantId)}/customers/${pathSegment(customerId)}`;
}
