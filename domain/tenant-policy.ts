import type { JsonObject } from './json-object.ts';

/** What is kept of requests and results, from the most to the least. */
export const STORAGE_POLICIES = ['raw', 'normalized', 'pointers', 'hashes'] as const;
export type StoragePolicy = (typeof STORAGE_POLICIES)[number];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What the gateway's admins set for a tenant. Times are milliseconds; null is no limit, or the gateway's own setting. */
export interface TenantPolicy {
  readonly storage: StoragePolicy;
  /** How long after a job's end `hashes` still reads results. */
  readonly readWindowMs: number;
  /** How long after a job's end its content is kept; null for ever. */
  readonly contentRetentionMs: number | null;
  /** Whether the provider's files are deleted once results are in and nothing reads them there. */
  readonly deletesProviderFiles: boolean;
  /** How long a refused credential is waited for; null for the gateway's `BATCHGATE_CREDENTIAL_WAIT_MS`. */
  readonly credentialWaitMs: number | null;
  readonly exposesProviderErrors: boolean;
  readonly allowsEmailLikeCustomIds: boolean;
  readonly maxItemsPerShard: number | null;
  /** Queued and running tasks together. */
  readonly taskConcurrency: number;
  /** What a key may call in a minute, in the units of domain/rate-limit.ts; null for `BATCHGATE_REQUESTS_PER_MINUTE`. */
  readonly requestsPerMinute: number | null;
  /** Calls that bring items or documents, at once in each api process; null for `BATCHGATE_MAX_UPLOADS_PER_TENANT`. */
  readonly maxUploads: number | null;
  /** Jobs that no submission of which was accepted yet. */
  readonly maxDrafts: number;
  /** Items of drafts and of jobs that have not ended, tasks and documents in runs among them. */
  readonly maxOpenItems: number;
  /** Bytes of requests, results and files of documents that are kept. */
  readonly maxStoredBytes: number | null;
}

export const DEFAULT_TENANT_POLICY: TenantPolicy = {
  storage: 'raw',
  readWindowMs: 24 * HOUR_MS,
  contentRetentionMs: 30 * DAY_MS,
  deletesProviderFiles: false,
  credentialWaitMs: null,
  exposesProviderErrors: false,
  allowsEmailLikeCustomIds: false,
  maxItemsPerShard: null,
  taskConcurrency: 100,
  requestsPerMinute: null,
  maxUploads: null,
  maxDrafts: 1_000,
  maxOpenItems: 10_000_000,
  maxStoredBytes: null,
};

/** The name of each member in a tenant's stored and public policy. */
export const POLICY_MEMBERS = {
  storage: 'storage',
  readWindowMs: 'read_window_ms',
  contentRetentionMs: 'content_retention_ms',
  deletesProviderFiles: 'delete_provider_files',
  credentialWaitMs: 'credential_wait_ms',
  exposesProviderErrors: 'expose_provider_errors',
  allowsEmailLikeCustomIds: 'allow_email_like_custom_ids',
  maxItemsPerShard: 'max_items_per_shard',
  taskConcurrency: 'task_concurrency',
  requestsPerMinute: 'requests_per_minute',
  maxUploads: 'max_uploads',
  maxDrafts: 'max_drafts',
  maxOpenItems: 'max_open_items',
  maxStoredBytes: 'max_stored_bytes',
} as const satisfies { readonly [name in keyof TenantPolicy]: string };

/** A tenant's policy as stored, with the gateway's defaults for what it leaves open. Written by us alone: not checked. */
export function readTenantPolicy(stored: JsonObject): TenantPolicy {
  const given = Object.entries(POLICY_MEMBERS).flatMap(([name, member]) =>
    Object.hasOwn(stored, member) ? [[name, stored[member]]] : [],
  );
  return { ...DEFAULT_TENANT_POLICY, ...Object.fromEntries(given) };
}

/** Whether `asked` keeps no more than `allowed` does. */
export function isAsStrict(asked: StoragePolicy, allowed: StoragePolicy): boolean {
  return STORAGE_POLICIES.indexOf(asked) >= STORAGE_POLICIES.indexOf(allowed);
}
