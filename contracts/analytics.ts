import { z } from 'zod';
import { FAILURE_CLASSES } from '../domain/failure.ts';
import { JOB_KINDS } from '../domain/job-kind.ts';
import { ENDPOINTS } from '../domain/provider.ts';
import { Currency, Money } from './money.ts';
import { ProviderInput } from './provider.ts';
import { plainText, Timestamp } from './text.ts';

export const ANALYTICS_GROUPS = [
  'tenant',
  'project',
  'customer',
  'api_key',
  'job_kind',
  'endpoint',
  'requested_model',
  'provider',
  'model',
  'day',
] as const;

const MAX_ID_LENGTH = 256;
const DEFAULT_TOP = 10;
const MAX_TOP = 100;

const Day = z.iso.date().meta({ example: '2026-08-01' });
const Id = plainText(MAX_ID_LENGTH).optional();

const GroupBy = z
  .string()
  .transform((list) => (list === '' ? [] : list.split(',')))
  .pipe(z.array(z.enum(ANALYTICS_GROUPS)))
  .refine((names) => new Set(names).size === names.length, 'must not name a group twice')
  .optional();

const FILTERS = {
  from: Day.optional().meta({ description: 'The first day, in UTC.', example: '2026-08-01' }),
  to: Day.optional().meta({ description: 'The first day after the last, in UTC.', example: '2026-09-01' }),
  tenant_id: Id.meta({ description: 'For operators; another’s than the key’s own gives nothing.' }),
  project_id: Id,
  customer_id: Id,
  api_key_id: Id,
  job_kind: z.enum(JOB_KINDS).optional().meta({
    description: '`batch` for batch jobs, `task` for durable tasks, `document` for runs over documents. Absent: all.',
  }),
  endpoint: z.enum(ENDPOINTS).optional(),
  provider: ProviderInput.optional(),
  model: Id.meta({ description: 'As the provider names it.' }),
};

const groupBy = (byDefault: string) =>
  GroupBy.meta({
    description:
      `Comma-separated: ${ANALYTICS_GROUPS.join(', ')}. Absent: ${byDefault}; empty: one sum of all. \`model\` is the one ` +
      'the items were sent to, `requested_model` what the job asked for.',
  });

export const AnalyticsQuery = z.strictObject({ ...FILTERS, group_by: groupBy('one sum of all') });
export type AnalyticsQuery = z.infer<typeof AnalyticsQuery>;

export const TokenAnalyticsQuery = z.strictObject({ ...FILTERS, group_by: groupBy('provider and model') });

export const DurationAnalyticsQuery = z.strictObject({
  ...FILTERS,
  group_by: groupBy('one sum of all'),
  of: z
    .enum(['jobs', 'shards'])
    .default('jobs')
    .meta({ description: 'Whole jobs, or shards: the parts of a job that are one batch at a provider each.' }),
});

export const FailureAnalyticsQuery = z.strictObject({
  ...FILTERS,
  group_by: groupBy('endpoint and model'),
  top: z
    .string()
    .regex(/^[0-9]{1,3}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(MAX_TOP))
    .default(DEFAULT_TOP)
    .meta({ description: `Codes of each group, the most frequent first; 1 to ${MAX_TOP}.` }),
});

const Group = z.partialRecord(z.enum(ANALYTICS_GROUPS), z.string().nullable()).meta({
  description: 'The values that this row stands for. Null: none, or not told apart by that group.',
});

const COUNTS = { completed: z.int(), failed: z.int(), expired: z.int(), cancelled: z.int() };
const DurationMs = z.int().meta({ description: 'Milliseconds.' });
const Ratio = z
  .number()
  .nullable()
  .meta({ description: 'A part of 1, with at most six decimals; null where there is nothing to divide by.' });

const ItemAnalytics = z
  .object({
    group: Group,
    ...COUNTS,
    pending: z.int().meta({
      description: 'Items of jobs that have not ended, without an outcome now; `from` and `to` do not apply.',
    }),
    total: z.int().meta({ description: 'All of the above.' }),
    retries: z.int().meta({ description: 'Of those with an outcome, the ones that are retries of another item.' }),
  })
  .meta({ id: 'ItemAnalytics' });

const CostAnalytics = z
  .object({
    group: Group,
    currency: Currency,
    settled: Money.meta({ description: 'Charged on these days, net of refunds and adjustments made on them.' }),
    refunded: Money.meta({ description: 'Given back on these days; taken off `settled` already.' }),
    adjusted: Money.meta({
      description:
        'What invoices and overage policies added on these days, or took off where it is negative; in `settled` already.',
    }),
    held: Money.meta({ description: 'Held for open jobs now; `from` and `to` do not apply.' }),
    ended_jobs: z.int().meta({ description: 'Jobs that ended on these days: what the following is about.' }),
    estimated: Money.meta({ description: 'What they were expected to cost when they were accepted.' }),
    ended_settled: Money.meta({ description: 'What they cost, net, on whatever days.' }),
    error: Money.meta({
      description: '`ended_settled` less `estimated`: negative where they cost less than expected.',
    }),
    error_ratio: Ratio.meta({ description: '`error` as a part of `estimated`; null where nothing was estimated.' }),
  })
  .meta({ id: 'CostAnalytics' });

const TOKENS = {
  input_tokens: z.int().meta({ description: 'With those read from and written to a cache.' }),
  cached_input_tokens: z.int(),
  cache_write_tokens: z.int(),
};

const TokenAnalytics = z
  .object({
    group: Group,
    items: z.int(),
    ...TOKENS,
    output_tokens: z.int().meta({ description: 'With reasoning.' }),
    reasoning_tokens: z.int(),
    usage_estimated_items: z.int().meta({ description: 'Items with a count that is not the provider’s own.' }),
  })
  .meta({ id: 'TokenAnalytics' });

const CacheAnalytics = z
  .object({
    group: Group,
    ...TOKENS,
    hit_rate: Ratio.meta({ description: '`cached_input_tokens` as a part of `input_tokens`; null without input.' }),
  })
  .meta({ id: 'CacheAnalytics' });

const RetryAnalytics = z
  .object({
    group: Group,
    retries: z.int().meta({ description: 'Items with an outcome that are retries of another item.' }),
    ...COUNTS,
    success_rate: Ratio.meta({ description: '`completed` as a part of `retries`.' }),
  })
  .meta({ id: 'RetryAnalytics' });

const StageDuration = z.object({
  mean_ms: DurationMs,
  p95_ms: DurationMs.meta({
    description: 'The shortest time that at least 95 % did not exceed: exact, one that occurred.',
  }),
});

const DurationAnalytics = z
  .object({
    group: Group,
    ended: z.int().meta({ description: 'Jobs or shards that ended on these days.' }),
    queued: StageDuration.meta({
      description: 'Until the provider computes: planning, upload, its checks and its queue.',
    }),
    running: StageDuration.meta({ description: 'While the provider computes.' }),
    finalizing: StageDuration.meta({ description: 'From all computed to all settled.' }),
  })
  .meta({ id: 'DurationAnalytics' });

const FailureAnalytics = z
  .object({ group: Group, class: z.enum(FAILURE_CLASSES), code: z.string(), items: z.int() })
  .meta({ id: 'FailureAnalytics' });

const RefusalAnalytics = z
  .object({
    group: Group.meta({ description: 'Here `model` is the requested one, and `provider` null.' }),
    code: z.string().meta({ description: 'The `error` of the refusal.' }),
    submissions: z.int(),
    items: z.int().meta({ description: 'Items that the refusals named.' }),
  })
  .meta({ id: 'RefusalAnalytics' });

const ENVELOPE = {
  from: Day.nullable(),
  to: Day.nullable(),
  as_of: Timestamp.meta({ description: 'What `now` means in this answer.' }),
};

const answer = <Row extends z.ZodType>(id: string, row: Row) =>
  z.object({ data: z.array(row), ...ENVELOPE }).meta({ id });

export const ItemAnalyticsAnswer = answer('ItemAnalyticsAnswer', ItemAnalytics);
export const CostAnalyticsAnswer = answer('CostAnalyticsAnswer', CostAnalytics);
export const TokenAnalyticsAnswer = answer('TokenAnalyticsAnswer', TokenAnalytics);
export const CacheAnalyticsAnswer = answer('CacheAnalyticsAnswer', CacheAnalytics);
export const RetryAnalyticsAnswer = answer('RetryAnalyticsAnswer', RetryAnalytics);
export const DurationAnalyticsAnswer = answer('DurationAnalyticsAnswer', DurationAnalytics);
export const FailureAnalyticsAnswer = z
  .object({ data: z.array(FailureAnalytics), refusals: z.array(RefusalAnalytics), ...ENVELOPE })
  .meta({ id: 'FailureAnalyticsAnswer' });

export type ItemAnalyticsAnswer = z.infer<typeof ItemAnalyticsAnswer>;
export type CostAnalyticsAnswer = z.infer<typeof CostAnalyticsAnswer>;
export type TokenAnalyticsAnswer = z.infer<typeof TokenAnalyticsAnswer>;
export type CacheAnalyticsAnswer = z.infer<typeof CacheAnalyticsAnswer>;
export type RetryAnalyticsAnswer = z.infer<typeof RetryAnalyticsAnswer>;
export type DurationAnalyticsAnswer = z.infer<typeof DurationAnalyticsAnswer>;
export type FailureAnalyticsAnswer = z.infer<typeof FailureAnalyticsAnswer>;
