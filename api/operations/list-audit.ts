import { z } from 'zod';
import type { AuditEntry, AuditLog, AuditQuery, TenantAuditQuery } from '../../contracts/audit-log.ts';
import { type AuditFilter, type AuditRecord, listAudit } from '../../db/audit-log.ts';
import type { Principal } from '../../domain/principal.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { tenantScope } from './owned-job.ts';

type Dependencies = Pick<ApiDependencies, 'db'>;

/** Whoever runs the gateway, as its tenants see them. */
const GATEWAY = 'gateway';
const EntryNo = z.int().min(0);

/** Who did what, newest first. */
export async function listAuditLog(dependencies: Dependencies, query: AuditQuery): Promise<AuditLog> {
  const { actor, tenant_id: tenantId } = query;
  return page(dependencies, 'audit', query, { filter: { actor, tenantId }, show: present });
}

/** What concerns the key's tenant. What those who run the gateway did shows act, time and subject alone. */
export async function listTenantAudit(
  dependencies: Dependencies,
  { principal, query }: { readonly principal: Principal; readonly query: TenantAuditQuery },
): Promise<AuditLog> {
  const { tenantId } = tenantScope(principal);
  return page(dependencies, 'tenant-audit', query, {
    filter: { ...actorOfTenant(query.actor), tenantId },
    show: presentToTenant,
  });
}

async function page(
  { db }: Dependencies,
  list: string,
  query: TenantAuditQuery,
  { filter, show }: { readonly filter: AuditFilter; readonly show: (entry: AuditRecord) => AuditEntry },
): Promise<AuditLog> {
  const { act, subject, from, to, limit } = query;
  const [before = null] = decodeCursor(list, [EntryNo], query.cursor) ?? [];
  const wanted = { ...filter, act, subject, from: toDate(from), to: toDate(to) };
  const entries = await listAudit(db.pool, wanted, { before, limit: limit + 1 });
  const shown = entries.slice(0, limit);
  const last = entries.length > limit ? shown.at(-1) : undefined;
  return { data: shown.map(show), next_cursor: last === undefined ? null : encodeCursor(list, [last.entryNo]) };
}

/** Keys of the gateway are not to be asked after one by one. */
function actorOfTenant(actor: string | undefined): AuditFilter {
  if (actor === undefined) return {};
  return actor === GATEWAY ? { isByTenant: false } : { actor, isByTenant: true };
}

function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

function present(entry: AuditRecord): AuditEntry {
  return {
    entry_no: entry.entryNo,
    at: entry.createdAt.toISOString(),
    act: entry.act,
    actor: entry.actor,
    tenant_id: entry.tenantId,
    subject: entry.subject,
    details: { ...entry.details },
  };
}

function presentToTenant(entry: AuditRecord): AuditEntry {
  return entry.isByTenant ? present(entry) : { ...present(entry), actor: GATEWAY, details: {} };
}
