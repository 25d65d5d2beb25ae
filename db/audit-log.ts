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
