import { z } from 'zod';
import { FAILURE_CLASSES } from '../domain/failure.ts';
import { isStorable } from './metadata.ts';
import { RequestBody } from './request-body.ts';
import { plainText, uniqueList } from './text.ts';

/** More would be a job of their own. */
const MAX_CUSTOM_IDS = 10_000;
const MAX_CORRECTIONS = 1_000;

const CustomId = z.string().min(1).max(2048).refine(isStorable, 'must be well-formed text without NUL');

export const RetryJob = z
  .strictObject({
    classes: uniqueList(z.enum(FAILURE_CLASSES), { max: FAILURE_CLASSES.length })
      .optional()
      .meta({ description: 'Only items that ended so.', example: ['expired', 'provider_error'] }),
    custom_ids: z.array(CustomId).min(1).max(MAX_CUSTOM_IDS).optional().meta({ description: 'Only these items.' }),
    model: plainText(200).optional().meta({
      description: 'What all of them run on, in place of what they ran on.',
      example: 'anthropic/claude-haiku-4-5',
    }),
    submit: z.boolean().optional().meta({ description: 'Submits the new job at once; else it is a draft.' }),
    acknowledge_safety: z.boolean().optional().meta({
      description: 'Needed, with `custom_ids`, for items that were blocked for safety. It is recorded who set it.',
    }),
    requests: z
      .record(CustomId, RequestBody)
      .refine(
        (requests) => Object.keys(requests).length <= MAX_CORRECTIONS,
        `must have at most ${MAX_CORRECTIONS} members`,
      )
      .optional()
      .meta({
        description:
          'Requests by custom id, sent in place of the original ones. Items of class `validation` are retried only so.',
      }),
  })
  .meta({ id: 'RetryBatchJob' });
export type RetryJob = z.infer<typeof RetryJob>;
