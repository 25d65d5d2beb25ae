import { z } from 'zod';
import { ENDPOINTS } from '../domain/provider.ts';
import { Metadata } from './metadata.ts';
import { MoneyInput } from './money.ts';
import { notYet } from './not-yet.ts';
import { ProviderInput } from './provider.ts';
import { plainText, uniqueList } from './text.ts';

/** The most items one shard may be asked to hold: the largest batch any provider takes. */
export const MAX_ITEMS_PER_SHARD = 100_000;
const MAX_REGION_LENGTH = 64;
const MAX_PROVIDERS = 50;

/** Whole numbers beyond 2^53 would be changed in silence by reading them, so they are refused. */
const RequestDefaults = z
  .record(z.string(), z.unknown())
  .superRefine((body, context) => {
    const fault = findFault(body, []);
    if (fault !== null) context.addIssue({ code: 'custom', path: fault.path, message: fault.message });
  })
  .meta({
    description: 'Merged under every item’s request, so that what all items share is sent once.',
    example: { max_tokens: 500, temperature: 0 },
  });

const Execution = z
  .strictObject({
    max_items_per_shard: z.int().min(1).max(MAX_ITEMS_PER_SHARD).optional(),
    region: plainText(MAX_REGION_LENGTH)
      .optional()
      .meta({ description: 'Where the job has to be processed; targets elsewhere are not used.', example: 'eu' }),
    deadline: notYet('execution.deadline'),
    not_before: notYet('execution.not_before'),
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
      .literal('raw', { error: 'only "raw" storage is supported by this version of the gateway' })
      .optional()
      .meta({ description: 'What is kept of requests and results.' }),
    execution: Execution.optional(),
    retry_policy: notYet('retry_policy'),
    webhook: notYet('webhook'),
  })
  .meta({ id: 'CreateBatchJob' });
export type CreateJob = z.infer<typeof CreateJob>;

interface Fault {
  readonly path: (string | number)[];
  readonly message: string;
}

const MAX_DEPTH = 64;

function findFault(value: unknown, path: (string | number)[]): Fault | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : { path, message: 'must be well-formed text' };
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { path, message: 'must not be a whole number beyond 2^53' };
  }
  if (typeof value !== 'object' || value === null) return null;
  if (path.length >= MAX_DEPTH) return { path, message: `must not be nested deeper than ${MAX_DEPTH} levels` };
  return findFaultWithin(value, path);
}

function findFaultWithin(value: object, path: (string | number)[]): Fault | null {
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, member] of entries) {
    if (typeof key === 'string' && !key.isWellFormed()) return { path, message: 'must have well-formed keys' };
    const fault = findFault(member, [...path, key]);
    if (fault !== null) return fault;
  }
  return null;
}
