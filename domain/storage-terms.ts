import { STORAGE_POLICIES, type StoragePolicy, type TenantPolicy } from './tenant-policy.ts';

/** What is kept of one job's requests and results, and for how long: the tenant's policy when the job was made. Times are milliseconds. */
export type StorageTerms = Pick<
  TenantPolicy,
  'storage' | 'readWindowMs' | 'contentRetentionMs' | 'deletesProviderFiles'
>;

/** A tenant's terms with the storage of one job, which may only be stricter; see `isAsStrict`. */
export function storageTerms(policy: StorageTerms, asked: StoragePolicy | null): StorageTerms {
  const { readWindowMs, contentRetentionMs, deletesProviderFiles } = policy;
  return {
    storage: asked === null ? policy.storage : stricter(policy.storage, asked),
    readWindowMs,
    contentRetentionMs,
    deletesProviderFiles,
  };
}

/** Terms that keep no more, and for no longer, than either does. */
export function stricterTerms(one: StorageTerms, other: StorageTerms): StorageTerms {
  return {
    storage: stricter(one.storage, other.storage),
    readWindowMs: Math.min(one.readWindowMs, other.readWindowMs),
    contentRetentionMs: shorter(one.contentRetentionMs, other.contentRetentionMs),
    deletesProviderFiles: one.deletesProviderFiles || other.deletesProviderFiles,
  };
}

/** What a job may ask for that must keep no more than `allowed` does, the least strict first. */
export function asStrictAs(allowed: StoragePolicy): readonly StoragePolicy[] {
  return STORAGE_POLICIES.slice(STORAGE_POLICIES.indexOf(allowed));
}

/** Whether the gateway keeps replies, and requests beyond the end of their job. */
export function keepsContent(storage: StoragePolicy): boolean {
  return storage === 'raw' || storage === 'normalized';
}

/**
 * When the files that a provider has of a job are to be deleted there; null for never. Those of `pointers` are all there is
 * of its results: they stay for as long as the provider keeps them.
 */
export function providerFilesDueAt(terms: StorageTerms, endedAt: Date): Date | null {
  if (terms.storage === 'hashes') return new Date(endedAt.getTime() + terms.readWindowMs);
  if (terms.storage === 'pointers') return null;
  return terms.deletesProviderFiles ? endedAt : null;
}

/** When the gateway deletes what it keeps of an ended job; null for never. */
export function contentDueAt({ contentRetentionMs }: StorageTerms, endedAt: Date): Date | null {
  return contentRetentionMs === null ? null : new Date(endedAt.getTime() + contentRetentionMs);
}

function stricter(one: StoragePolicy, other: StoragePolicy): StoragePolicy {
  return STORAGE_POLICIES.indexOf(one) >= STORAGE_POLICIES.indexOf(other) ? one : other;
}

function shorter(one: number | null, other: number | null): number | null {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
}
