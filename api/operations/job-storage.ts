import type pg from 'pg';
import { readTenantTerms } from '../../db/storage-terms.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { asStrictAs, type StorageTerms, storageTerms } from '../../domain/storage-terms.ts';
import { isAsStrict, type StoragePolicy } from '../../domain/tenant-policy.ts';

/** What is kept of a job that asks for `asked`, null for the tenant's own. Throws `storage_policy_looser`. */
export async function requireStorageTerms(
  client: Pick<pg.ClientBase, 'query'>,
  tenantId: string,
  asked: StoragePolicy | null,
  field = 'storage',
): Promise<StorageTerms> {
  const terms = await readTenantTerms(client, tenantId);
  if (asked !== null && !isAsStrict(asked, terms.storage)) {
    const allowed = asStrictAs(terms.storage).join(', ');
    throw new GatewayError(
      'storage_policy_looser',
      `"${asked}" keeps more than this tenant's policy allows. Ask for one of: ${allowed}; or leave it out.`,
      { field },
    );
  }
  return storageTerms(terms, asked);
}
