import { z } from 'zod';
import { type POLICY_MEMBERS, STORAGE_POLICIES } from '../domain/tenant-policy.ts';
import { MaxItemsPerShard } from './tenant.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TEN_YEARS_MS = 3_653 * DAY_MS;

type MemberName = (typeof POLICY_MEMBERS)[keyof typeof POLICY_MEMBERS];

/** Each member with its bounds. Null is taken where it means something. */
const MEMBERS = {
  storage: z
    .enum(STORAGE_POLICIES)
    .meta({ description: 'What is kept of requests and results, of jobs made from then on.' }),
  read_window_ms: z
    .int()
    .min(MINUTE_MS)
    .max(30 * DAY_MS)
    .meta({ description: 'How long after a job’s end its results can be read where `storage` is `hashes`.' }),
  content_retention_ms: z
    .int()
    .min(HOUR_MS)
    .max(TEN_YEARS_MS)
    .nullable()
    .meta({ description: 'How long after a job’s end its content is kept; null for ever.' }),
  delete_provider_files: z.boolean().meta({
    description: 'Whether the provider’s files are deleted once results are in and nothing reads them there.',
  }),
  credential_wait_ms: z
    .int()
    .min(MINUTE_MS)
    .max(30 * DAY_MS)
    .nullable()
    .meta({
      description: 'How long jobs wait for a good key or credit at the provider; null for the gateway’s own setting.',
    }),
  expose_provider_errors: z
    .boolean()
    .meta({ description: 'Whether result rows show the provider’s own error type and text.' }),
  allow_email_like_custom_ids: z
    .boolean()
    .meta({ description: 'Whether a `custom_id` may look like an e-mail address.' }),
  max_items_per_shard: MaxItemsPerShard,
  task_concurrency: z
    .int()
    .min(0)
    .max(1_000_000)
    .meta({ description: 'Queued and running tasks together; 0 takes none.' }),
  requests_per_minute: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .meta({ description: 'What a key may call in a minute; null for the gateway’s own setting.' }),
  max_uploads: z
    .int()
    .min(1)
    .max(1_000)
    .nullable()
    .meta({ description: 'Calls that bring items, at once; null for the gateway’s own setting.' }),
  max_drafts: z.int().min(1).max(1_000_000).meta({ description: 'Drafts at a time.' }),
  max_open_items: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .meta({ description: 'Items of drafts and of jobs that have not ended.' }),
  max_stored_bytes: z
    .int()
    .min(1)
    .nullable()
    .meta({ description: 'Bytes of requests and results that are kept; null for no limit.' }),
} as const satisfies { readonly [member in MemberName]: z.ZodType };

const PolicyValues = z.object(MEMBERS).meta({ id: 'PolicyValues' });

export const TenantPolicy = z
  .object({
    tenant_id: z.string(),
    policy: PolicyValues.meta({ description: 'What holds for the tenant.' }),
    defaults: PolicyValues.meta({ description: 'What holds where nothing was set.' }),
  })
  .meta({ id: 'TenantPolicy' });
export type TenantPolicy = z.infer<typeof TenantPolicy>;

/** A member that is left out stays as it is. */
export const ChangePolicy = z.strictObject(MEMBERS).partial().meta({ id: 'ChangePolicy' });
export type ChangePolicy = z.infer<typeof ChangePolicy>;
