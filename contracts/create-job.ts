import { z } from 'zod';
import { ENDPOINTS } from '../domain/provider.ts';
import { STORAGE_POLICIES } from '../domain/tenant-policy.ts';
import { Metadata } from './metadata.ts';
import { MoneyInput } from './money.ts';
import { ProviderInput } from './provider.ts';
import { RequestBody } from './request-body.ts';
import { RetryPolicyInput } from './retry-policy.ts';
import { plainText, TimestampInput, uniqueList } from './text.ts';
import { JobWebhook } from './webhook.ts';

/** The most items one shard may be asked to hold: the largest batch any provider takes. */
export const MAX_ITEMS_PER_SHARD = 100_000;
const MAX_REGION_LENGTH = 64;
const MAX_PROVIDERS = 50;

const RequestDefaults = RequestBody.meta({
  description: 'Merged under every item’s request, so that what all items share is sent once.',
  example: { max_tokens: 500, temperature: 0 },
});

const Execution = z
  .strictObject({
    max_items_per_shard: z.int().min(1).max(MAX_ITEMS_PER_SHARD).optional(),
    region: plainText(MAX_REGION_LENGTH)
      .optional()
      .meta({ description: 'Where the job has to be processed; targets elsewhere are not used.', example: 'eu' }),
    deadline: TimestampInput.optional().meta({
      description:
        'When what has not ended is cut off: finished items are kept and charged, the rest is `expired` with code ' +
        '`deadline`. In the future, at most 60 days ahead; looked at again at submit.',
      example: '2026-08-20T06:00:00Z',
    }),
    not_before: TimestampInput.optional().meta({
      description:
        'Before this nothing is sent to a provider. The job is admitted and holds its money at submit. At most 30 days ' +
        'ahead, and before the deadline; a time that is past holds nothing back.',
      example: '2026-08-19T22:00:00+02:00',
    }),
    providers: uniqueList(ProviderInput, { max: MAX_PROVIDERS })
      .optional()
      .meta({ description: 'The only providers the job may run on.', example: ['openai', 'anthropic'] }),
  })
  .meta({ description: 'How the job is run. `max_items_per_shard` cuts it into smaller provider batches.' });

export const CreateJob = z
  .strictObject({
    endpoint: z.enum(ENDPOINTS),
    model: plainText(200).meta({
      description: 'An alias of the tenant, or `provider/model`.',
      example: 'analysis-large',
    }),
    name: plainText(200).nullable().optional(),
    customer_id: plainText(128).nullable().optional(),
    project_id: plainText(128).nullable().optional(),
    metadata: Metadata.optional(),
    request_defaults: RequestDefaults.optional(),
    max_cost: MoneyInput.optional(),
    storage: z
      .enum(STORAGE_POLICIES)
      .optional()
      .meta({
        description:
          'What is kept of requests and results, from the most to the least. Absent: as the tenant’s policy says; only ' +
          'what is as strict as that, or stricter, is taken. A tenant made stricter before the submit makes the job so too.',
      }),
    execution: Execution.optional(),
    retry_policy: RetryPolicyInput.optional(),
    webhook: JobWebhook.optional(),
  })
  .meta({ id: 'CreateBatchJob' });
export type CreateJob = z.infer<typeof CreateJob>;
