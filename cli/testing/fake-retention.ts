import type { Hono } from 'hono';
import { DataDeletion } from '../../contracts/data-deletion.ts';
import { LegalHold } from '../../contracts/legal-hold.ts';

const AT = '2026-08-19T10:00:00.000Z';
const HOLD = LegalHold.parse({
  ...{ hold_id: 'hold_1', tenant_id: 'tenant_a', customer_id: 'cust_1', job_id: null, reason: 'case 1' },
  ...{ set_by: 'key_admin', set_at: AT, lifted_at: null, lifted_by: null },
});
const DELETION = DataDeletion.parse({
  ...{ deletion_id: 'del_1', tenant_id: 'tenant_a', customer_id: 'cust_1', reason: 'contract ended', state: 'running' },
  ...{ requested_by: 'key_admin', requested_at: AT, completed_at: null },
  deleted: { jobs: 2, drafts: 1, requests: 6, results: 5, artifacts: 2, documents: 4, provider_batches: 2 },
  waiting: { open_jobs: 1, jobs_being_removed: 0, held_jobs: 0, artifacts: 1, documents: 3, held_documents: 0 },
  left_at_providers: [{ job_id: 'job_1', provider: 'openai', batches: 1, expires_at: AT }],
  kept: [{ what: 'accounts', count: 3, why: 'What was charged has to be shown.' }],
});

/** What a gateway answers about holds and deletions. */
export function addRetentionRoutes(app: Hono): void {
  const holds = '/v1/admin/tenants/tenant_a/legal-holds';
  app.post(holds, (c) => c.json(HOLD, 201));
  app.get(holds, (c) => c.json({ data: [HOLD], next_cursor: null }));
  app.delete(`${holds}/hold_1`, (c) => c.json({ ...HOLD, lifted_at: AT, lifted_by: 'key_admin' }));
  const customer = '/v1/admin/tenants/tenant_a/customers/cust_1';
  app.post(`${customer}/delete-data`, (c) => c.json(DELETION, 202));
  app.get(`${customer}/data-deletions/del_1`, (c) => c.json(DELETION));
}
