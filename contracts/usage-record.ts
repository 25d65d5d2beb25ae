import { z } from 'zod';
import { ITEM_STATES } from '../domain/item-state.ts';
import { ENDPOINTS } from '../domain/provider.ts';
import { JobStatus } from './job.ts';
import { Currency, Money } from './money.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { ProviderName } from './provider.ts';
import { Timestamp, TimestampInput } from './text.ts';

const Tokens = z.int();

const TOKENS = {
  input_tokens: Tokens,
  cached_input_tokens: Tokens,
  cache_write_tokens: Tokens,
  output_tokens: Tokens,
  reasoning_tokens: Tokens,
};

const SUMS = {
  items: z.int().meta({ description: 'Settled items.' }),
  completed: z.int(),
  failed: z.int(),
  expired: z.int(),
  cancelled: z.int(),
  ...TOKENS,
  usage_estimated_items: z.int().meta({ description: 'Items with a count that is not the provider’s own.' }),
  cost: Money,
  currency: Currency,
};

const WHOSE = {
  job_id: z.string(),
  tenant_id: z.string(),
  project_id: z.string().nullable(),
  customer_id: z.string().nullable(),
  api_key_id: z.string(),
  endpoint: z.enum(ENDPOINTS),
};

/** What a job used of one model: a line for a billing system. */
export const JobUsage = z
  .object({
    ...WHOSE,
    status: JobStatus,
    provider: ProviderName.nullable().meta({ description: 'Null for items that never reached a provider.' }),
    model: z.string(),
    ...SUMS,
    first_settled_at: Timestamp,
    last_settled_at: Timestamp,
  })
  .meta({ id: 'JobUsage' });
export type JobUsage = z.infer<typeof JobUsage>;

export const ItemUsageRecord = z
  .object({
    ...WHOSE,
    item_id: z.string(),
    custom_id: z.string(),
    status: z.enum(ITEM_STATES),
    provider: ProviderName.nullable(),
    model: z.string(),
    ...TOKENS,
    usage_estimated: z.boolean(),
    cost: Money,
    currency: Currency,
    settled_at: Timestamp,
  })
  .meta({ id: 'ItemUsageRecord' });
export type ItemUsageRecord = z.infer<typeof ItemUsageRecord>;

export const JobUsageExport = z
  .object({ data: z.array(z.union([JobUsage, ItemUsageRecord])), next_cursor: NextCursor })
  .meta({ id: 'JobUsageExport' });
export type JobUsageExport = z.infer<typeof JobUsageExport>;

export const UsageLines = z.string().meta({ description: 'One record as a JSON object on each line.' });
export const UsageCsv = z.string().meta({
  description: 'RFC 4180 with a header line. A cell a spreadsheet would run as a formula starts with an apostrophe.',
});

export const JobUsageQuery = z.strictObject({
  ...PageQuery,
  level: z.enum(['job', 'item']).default('job'),
  format: z.enum(['json', 'ndjson', 'csv']).default('json'),
});
export type JobUsageQuery = z.infer<typeof JobUsageQuery>;

const USAGE_GROUPS = ['tenant', 'project', 'customer', 'api_key', 'provider', 'model', 'endpoint', 'day'] as const;

const GroupBy = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(z.enum(USAGE_GROUPS)).min(1))
  .refine((names) => new Set(names).size === names.length, 'must not name a group twice')
  .optional()
  .meta({ description: `Comma-separated: ${USAGE_GROUPS.join(', ')}. Absent: a record for each job and model.` });

export const UsageQuery = z.strictObject({
  ...PageQuery,
  from: TimestampInput.optional().meta({ description: 'Items settled at or after this time.' }),
  to: TimestampInput.optional().meta({ description: 'Items settled before this time.' }),
  since: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description:
        '`start` for the first read, then `next_since` of the last: only what was written after it, nothing twice and ' +
        'nothing missed. What is still being written waits for the next read.',
    }),
  group_by: GroupBy,
});
export type UsageQuery = z.infer<typeof UsageQuery>;

export const UsageGroupSum = z
  .object({
    group: z.partialRecord(z.enum(USAGE_GROUPS), z.string().nullable()),
    ...SUMS,
  })
  .meta({ id: 'UsageGroupSum' });
export type UsageGroupSum = z.infer<typeof UsageGroupSum>;

export const UsageReport = z
  .object({
    data: z.array(z.union([JobUsage, UsageGroupSum])),
    next_cursor: NextCursor,
    next_since: z.string().nullable().meta({
      description: 'Pass as `since` to read only what came after this answer; null where `since` was not asked for.',
    }),
  })
  .meta({ id: 'UsageReport' });
export type UsageReport = z.infer<typeof UsageReport>;
