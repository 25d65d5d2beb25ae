import type pg from 'pg';
import type { AuditAct } from '../domain/audit-act.ts';
import type { JsonObject } from '../domain/json-object.ts';

/** Something that somebody did. */
export interface NewAuditEntry {
  readonly act: AuditAct;
  /** The id of the key that asked, or `gateway`. */
  readonly actor: string;
  /** Whom it concerns; null for the gateway as a whole. */
  readonly tenantId: string | null;
  /** The public id of what was acted on, such as `job_…`; null where the tenant says it all. */
  readonly subject: string | null;
  /** Ids, counts, names of fields and closed words: never a secret, never content. */
  readonly details?: JsonObject;
}

/** Writes an entry in the transaction of the act itself, so that neither is there without the other. */
export async function recordAudit(
  client: Pick<pg.ClientBase, 'query'>,
  { act, actor, tenantId, subject, details = {} }: NewAuditEntry,
): Promise<void> {
  await client.query('INSERT INTO audit_log (act, actor, tenant_id, subject, details) VALUES ($1, $2, $3, $4, $5)', [
    act,
    actor,
    tenantId,
    subject,
    JSON.stringify(details),
  ]);
}

/** An entry as it was written. */
export interface AuditRecord {
  /** Counts up; gaps mean nothing. */
  readonly entryNo: number;
  readonly act: AuditAct;
  readonly actor: string;
  /** Whether the actor is a key of the tenant it concerns. */
  readonly isByTenant: boolean;
  readonly tenantId: string | null;
  readonly subject: string | null;
  readonly details: JsonObject;
  readonly createdAt: Date;
}

/** What of the log is wanted; undefined wants all. */
export interface AuditFilter {
  readonly tenantId?: string | undefined;
  readonly actor?: string | undefined;
  /** Whether the actor is a key of the tenant it concerns. */
  readonly isByTenant?: boolean | undefined;
  readonly act?: AuditAct | undefined;
  readonly subject?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

/** Newest first, those before an entry. */
export async function listAudit(
  db: Pick<pg.ClientBase, 'query'>,
  { tenantId, actor, isByTenant, act, subject, from, to }: AuditFilter,
  page: { readonly before: number | null; readonly limit: number },
): Promise<AuditRecord[]> {
  const { rows } = await db.query<Omit<AuditRecord, 'entryNo'> & { readonly entryNo: string }>(
    `SELECT a.entry_no AS "entryNo", a.act, a.actor, k.key_id IS NOT NULL AS "isByTenant", a.tenant_id AS "tenantId", a.subject,
       a.details, a.created_at AS "createdAt"
     FROM audit_log a LEFT JOIN api_keys k ON k.key_id = a.actor AND k.tenant_id = a.tenant_id
     WHERE ($1::text IS NULL OR a.tenant_id = $1) AND ($2::text IS NULL OR a.actor = $2) AND ($3::text IS NULL OR a.act = $3)
       AND ($4::text IS NULL OR a.subject = $4) AND ($5::timestamptz IS NULL OR a.created_at >= $5)
       AND ($6::timestamptz IS NULL OR a.created_at < $6) AND ($7::boolean IS NULL OR (k.key_id IS NOT NULL) = $7)
       AND ($8::bigint IS NULL OR a.entry_no < $8)
     ORDER BY a.entry_no DESC LIMIT $9`,
    [...[tenantId, actor, act, subject, from, to, isByTenant].map((wanted) => wanted ?? null), page.before, page.limit],
  );
  return rows.map(({ entryNo, ...row }) => ({ ...row, entryNo: Number(entryNo) }));
}
