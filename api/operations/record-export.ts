import { recordAudit } from '../../db/audit-log.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { tenantScope } from './owned-job.ts';

/** Puts on record that usage is being exported as a stream, before any of it is sent. Pages of JSON are reading. */
export async function recordExport(
  { db }: Pick<ApiDependencies, 'db'>,
  principal: Principal,
  { jobId, of }: { readonly jobId: string | null; readonly of: 'job' | 'item' | 'group' },
): Promise<void> {
  const { tenantId } = tenantScope(principal);
  const entry = { act: 'usage.exported', actor: principal.keyId, tenantId, subject: jobId } as const;
  await recordAudit(db.pool, { ...entry, details: { records_of: of } });
}
