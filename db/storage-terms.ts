import type pg from 'pg';
import type { JsonObject } from '../domain/json-object.ts';
import { type StorageTerms, storageTerms, stricterTerms } from '../domain/storage-terms.ts';
import { readTenantPolicy, type StoragePolicy } from '../domain/tenant-policy.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** The columns of `batch_jobs` that hold a job's terms. */
export const TERMS_COLUMNS = 'storage, read_window_ms, content_retention_ms, delete_provider_files';

export interface TermsRow {
  readonly storage: StoragePolicy;
  readonly read_window_ms: string;
  readonly content_retention_ms: string | null;
  readonly delete_provider_files: boolean;
}

export function toStorageTerms(row: TermsRow): StorageTerms {
  return {
    storage: row.storage,
    readWindowMs: Number(row.read_window_ms),
    contentRetentionMs: row.content_retention_ms === null ? null : Number(row.content_retention_ms),
    deletesProviderFiles: row.delete_provider_files,
  };
}

/** In the order of `TERMS_COLUMNS`. */
export function termsValues(terms: StorageTerms): unknown[] {
  return [terms.storage, terms.readWindowMs, terms.contentRetentionMs, terms.deletesProviderFiles];
}

/** What the tenant's policy says now. Throws for an unknown tenant. */
export async function readTenantTerms(db: Queryable, tenantId: string): Promise<StorageTerms> {
  const { rows } = await db.query<{ policy: JsonObject }>('SELECT policy FROM tenants WHERE tenant_id = $1', [
    tenantId,
  ]);
  if (rows[0] === undefined) throw new Error(`no tenant ${tenantId}`);
  return storageTerms(readTenantPolicy(rows[0].policy), null);
}

/** Makes the terms of a job as strict as its tenant's are by now. Its row must be locked. */
export async function tightenTerms(client: pg.PoolClient, uuid: string): Promise<void> {
  const { rows } = await client.query<TermsRow & { tenant_id: string }>(
    `SELECT tenant_id, ${TERMS_COLUMNS} FROM batch_jobs WHERE job_id = $1`,
    [uuid],
  );
  const [job] = rows;
  if (job === undefined) return;
  const terms = stricterTerms(toStorageTerms(job), await readTenantTerms(client, job.tenant_id));
  await client.query(
    `UPDATE batch_jobs SET (${TERMS_COLUMNS}) = ROW ($2::text, $3::bigint, $4::bigint, $5::boolean) WHERE job_id = $1`,
    [uuid, ...termsValues(terms)],
  );
}
