import { z } from 'zod';
import { ITEM_STATES } from '../domain/item-state.ts';
import { JOB_KINDS } from '../domain/job-kind.ts';
import { ENDPOINTS } from '../domain/provider.ts';
import { STORAGE_POLICIES } from '../domain/tenant-policy.ts';
import { USAGE_KINDS } from '../domain/usage-kind.ts';
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

const MONEY = {
  cost: Money.meta({
    description:
      'What the caller pays: for a customer’s own key in its own prices. Below zero where money was given back.',
  }),
  upstream_amount: Money.nullable().meta({
    description: 'What the tenant pays; null for a customer’s own key, which is never told.',
  }),
  customer_amount: Money.nullable().meta({
    description: 'What the job’s customer is shown, by its price list or markup; null where the job has no customer.',
  }),
  currency: Currency,
};

const SUMS = {
  items: z.int().meta({ description: 'Settled items.' }),
  completed: z.int(),
  failed: z.int(),
  expired: z.int(),
  cancelled: z.int(),
  ...TOKENS,
  usage_estimated_items: z.int().meta({ description: 'Items with a count that is not the provider’s own.' }),
  ...MONEY,
};

const RECORD = {
  record_id: z.string().meta({
    description: 'Always the same for the same record: import by it, and a second import changes nothing.',
  }),
  version: z.int().meta({ description: 'Grows when a record is corrected: of two with one id the higher one counts.' }),
  kind: z.enum(USAGE_KINDS).meta({
    description:
      '`charge`; `refund`, given back of an item’s charge; `adjustment`, of a job’s whole charge. All of them summed are net.',
  }),
  day: z.iso.date().meta({ description: 'In UTC, of the settlement or of the correction.' }),
  job_id: z.string().meta({ description: 'Of what was run: `job_…`, `task_…` or `run_…` by its kind.' }),
  job_kind: z.enum(JOB_KINDS).meta({
    description: '`batch`, a batch job; `task`, one durable task; `document`, a run over documents.',
  }),
  tenant_id: z.string(),
  project_id: z.string().nullable(),
  customer_id: z.string().nullable(),
  api_key_id: z.string(),
  endpoint: z.enum(ENDPOINTS),
  provider: ProviderName.nullable().meta({ description: 'Null for items that never reached a provider.' }),
  model: z.string().meta({ description: 'Empty where no model is concerned.' }),
  price_book_version: z.string().nullable(),
};

const DEADLINES = {
  retrieval_deadline: Timestamp.nullable().meta({ description: 'Until when a provider keeps the results.' }),
  provider_deadline: Timestamp.nullable().meta({ description: 'When the window of the provider’s batch ends.' }),
  deletion_deadline: Timestamp.nullable().meta({
    description: 'When the gateway deletes, or deleted, the content; null while it is to be kept.',
  }),
};

const STORAGE = {
  storage: z.enum(STORAGE_POLICIES).meta({ description: 'What is kept of requests and results.' }),
  raw_input_stored: z.boolean(),
  raw_output_stored: z.boolean(),
  artifact_location: z.string().nullable(),
  request_body_deleted_at: Timestamp.nullable(),
};

const ItemHash = z.string().nullable().meta({ description: 'SHA-256 as `sha256:` and 64 hex digits.' });

/** What a job used of one model on one day: a line for a billing system. */
export const JobUsage = z
  .object({
    ...RECORD,
    status: JobStatus,
    ...SUMS,
    first_settled_at: Timestamp,
    last_settled_at: Timestamp,
    ...DEADLINES,
    ...STORAGE,
  })
  .meta({ id: 'JobUsage' });
export type JobUsage = z.infer<typeof JobUsage>;

/** One movement of money: an item’s charge, or what was given back of it; an adjustment is of no item. */
export const ItemUsageRecord = z
  .object({
    ...RECORD,
    item_id: z.string().nullable(),
    custom_id: z.string().nullable(),
    status: z.enum(ITEM_STATES).nullable(),
    ...TOKENS,
    usage_estimated: z.boolean(),
    ...MONEY,
    settled_at: Timestamp.meta({ description: 'When the charge settled, or when it was corrected.' }),
    request_hash: ItemHash,
    response_hash: ItemHash,
    ...DEADLINES,
    ...STORAGE,
  })
  .meta({ id: 'ItemUsageRecord' });
export type ItemUsageRecord = z.infer<typeof ItemUsageRecord>;

export const JobUsageExport = z
  .object({ data: z.array(z.union([JobUsage, ItemUsageRecord])), next_cursor: NextCursor })
  .meta({ id: 'JobUsageExport' });
export type JobUsageExport = z.infer<typeof JobUsageExport>;

export const UsageLines = z.string().meta({ description: 'One record as a JSON object on each line.' });
export const UsageCsv = z.string().meta({
  description:
    'RFC 4180 with a header line. A text a spreadsheet would run as a formula starts with an apostrophe; amounts and ' +
    'counts are left as the numbers they are. With `format=focus` the columns are those of FOCUS.',
});

const Level = z.enum(['job', 'item']).default('job').meta({
  description: '`job`: a record for each job, day, model and kind. `item`: one for each item, and for each correction.',
});
const Format = z
  .enum(['json', 'ndjson', 'csv', 'focus'])
  .optional()
  .meta({
    description:
      '`json` comes in pages, the others as one stream of all records. `focus` is CSV for tools that read the FinOps Open ' +
      'Cost and Usage Specification. Absent: as `Accept` says, else `json`.',
  });

export const JobUsageQuery = z.strictObject({ ...PageQuery, level: Level, format: Format });
export type JobUsageQuery = z.infer<typeof JobUsageQuery>;

const USAGE_GROUPS = [
  'tenant',
  'project',
  'customer',
  'api_key',
  'job_kind',
  'provider',
  'model',
  'endpoint',
  'day',
] as const;

const GroupBy = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(z.enum(USAGE_GROUPS)).min(1))
  .refine((names) => new Set(names).size === names.length, 'must not name a group twice')
  .optional()
  .meta({ description: `Comma-separated: ${USAGE_GROUPS.join(', ')}. Absent: a record for each job and model.` });

export const UsageQuery = z.strictObject({
  ...PageQuery,
  from: TimestampInput.optional().meta({
    description:
      'Only what was settled or corrected at or after this time. For records of jobs the first moment of a day.',
  }),
  to: TimestampInput.optional().meta({
    description: 'Only what was settled or corrected before this time. As `from`.',
  }),
  since: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({
      description:
        '`start` for the first read, then `next_since` of the last: only what was written after it, and nothing missed. ' +
        'What is still being written waits for the next read. A record of a job comes again, whole and with a higher ' +
        '`version`, when something was added to it; a record of an item never does.',
    }),
  job_kind: z.enum(JOB_KINDS).optional().meta({ description: 'Only what was run as this. Absent: everything.' }),
  group_by: GroupBy,
  level: Level,
  format: Format,
});
export type UsageQuery = z.infer<typeof UsageQuery>;

export const UsageGroupSum = z
  .object({
    group: z.partialRecord(z.enum(USAGE_GROUPS), z.string().nullable()),
    ...SUMS,
  })
  .meta({ id: 'UsageGroupSum', description: 'Net of refunds and adjustments.' });
export type UsageGroupSum = z.infer<typeof UsageGroupSum>;

export const UsageReport = z
  .object({
    data: z.array(z.union([JobUsage, ItemUsageRecord, UsageGroupSum])),
    next_cursor: NextCursor,
    next_since: z.string().nullable().meta({
      description:
        'Pass as `since` to read only what came after this answer; null where `since` was not asked for. Streams have it in `Usage-Next-Since`.',
    }),
  })
  .meta({ id: 'UsageReport' });
export type UsageReport = z.infer<typeof UsageReport>;
