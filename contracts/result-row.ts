import { z } from 'zod';
import { CONTENT_STATES } from '../domain/content-state.ts';
import { FAILURE_CLASSES } from '../domain/failure.ts';
import { ITEM_STATES } from '../domain/item-state.ts';
import { isStorable } from './metadata.ts';
import { Currency, Money } from './money.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { Timestamp } from './text.ts';

const ITEM_END_STATES = ['completed', 'failed', 'expired', 'cancelled'] as const;

const Hash = z
  .string()
  .meta({ description: 'SHA-256 as `sha256:` and 64 hex digits.', example: `sha256:${'9f'.repeat(32)}` });

const Tokens = z.int().meta({ description: 'Tokens.' });

const ItemUsage = z
  .object({
    input_tokens: Tokens,
    cached_input_tokens: Tokens,
    cache_write_tokens: Tokens,
    output_tokens: Tokens,
    reasoning_tokens: Tokens,
    estimated: z.boolean().meta({ description: 'True where a count is not the provider’s own.' }),
  })
  .meta({ id: 'ItemUsage', description: 'Input includes cached and cache-write tokens; output includes reasoning.' });

const ItemError = z.object({
  class: z.enum(FAILURE_CLASSES),
  code: z.string(),
  message: z.string(),
  provider: z
    .unknown()
    .optional()
    .meta({ description: 'The provider’s own error, only where the tenant’s policy exposes it.' }),
});

const ROW = {
  item_id: z.string(),
  custom_id: z.string(),
  result: z.unknown().meta({
    description:
      'The reply. For `chat.completions` a completion in OpenAI’s shape whatever ran it; native endpoints keep the native ' +
      'body. Null when there is none.',
  }),
  content: z
    .enum(CONTENT_STATES)
    .nullable()
    .meta({
      description:
        'Where the reply is, by the job’s storage policy. `stored` with the gateway; `at_provider`, read there for this ' +
        'answer. In all other states `result` is null: `unavailable`, the provider could not be asked, try again; `lost`, it ' +
        'has the reply no more; `changed`, what is there is not what was settled; `expired`, its time for it is over; ' +
        '`not_stored`, only hashes are kept by now; `deleted`. Null for an item that has no reply.',
    }),
  error: ItemError.nullable(),
  model: z.string().nullable(),
  request_hash: Hash,
  response_hash: Hash.nullable(),
  needs_review: z.boolean().meta({
    description: 'True while an item that was blocked for safety waits for a person: nobody has retried it.',
  }),
  retry_of_item_id: z.string().nullable().meta({ description: 'The item it repeats, in its own job or another.' }),
  retried_by_item_id: z.string().nullable().meta({ description: 'The item that repeats it.' }),
  attempts: z.int().meta({ description: 'How many provider batches the item was part of.' }),
  currency: Currency,
};

/** A settled item. */
export const ResultRow = z
  .object({
    ...ROW,
    status: z.enum(ITEM_END_STATES),
    usage: ItemUsage,
    cost: Money,
    refunded: Money.meta({ description: 'Given back of the cost by an operator.' }),
    settled_at: Timestamp,
  })
  .meta({ id: 'ResultRow' });

const ChainLink = z
  .object({
    job_id: z.string(),
    item_id: z.string(),
    name: z.string().meta({
      description:
        'For people: the custom id, and of a retry with `.retry_1`, `.retry_2`, …, which may be another item’s own.',
    }),
    attempt: z.int().meta({ description: 'Over all jobs: 1, and one more with each retry.' }),
    status: z.enum(ITEM_STATES),
    error: z.object({ class: z.enum(FAILURE_CLASSES), code: z.string() }).nullable(),
    model: z.string().nullable(),
    cost: Money.nullable(),
    settled_at: Timestamp.nullable(),
  })
  .meta({ id: 'RetryChainLink' });

/** An item in any state; what is not known before settlement is null. */
export const ItemDetail = z
  .object({
    ...ROW,
    status: z.enum(ITEM_STATES),
    usage: ItemUsage.nullable(),
    cost: Money.nullable(),
    refunded: Money.nullable(),
    settled_at: Timestamp.nullable(),
    created_at: Timestamp,
    retry_chain: z.array(ChainLink).meta({
      description:
        'The item with those it repeats and those that repeat it, the first one first, over all jobs the key may see.',
    }),
  })
  .meta({ id: 'ItemDetail' });

export const ResultPage = z.object({ data: z.array(ResultRow), next_cursor: NextCursor }).meta({
  id: 'ResultPage',
  description:
    'Settled items in the order of settlement. While the job is open `next_cursor` is never null, so the same cursor follows ' +
    'the job: a page may then be empty.',
});

export const ResultLines = z.string().meta({ description: 'One result row as a JSON object on each line.' });

export const ResultQuery = z.strictObject({
  ...PageQuery,
  status: z.enum(ITEM_END_STATES).optional(),
  custom_id: z.string().min(1).max(2048).refine(isStorable, 'must be well-formed text without NUL').optional(),
  view: z
    .enum(['latest'])
    .optional()
    .meta({
      description:
        '`latest`: one row for each original item, with the newest outcome of its retries in this job and in those that retry it. ' +
        'A cursor of one view means nothing in the other.',
    }),
});
export type ResultQuery = z.infer<typeof ResultQuery>;

export const ItemQuery = z.strictObject({ custom_id: z.string().min(1).max(2048) });
