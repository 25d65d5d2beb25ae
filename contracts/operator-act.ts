import { z } from 'zod';
import { OPERATOR_ACTS } from '../domain/operator-act.ts';
import { plainText, Timestamp } from './text.ts';

const Reason = plainText(500).meta({ description: 'Why, for whoever looks later.' });
const ShardNo = z.int().min(1).max(2_147_483_647);

export const OperatorCancel = z.strictObject({ reason: Reason }).meta({ id: 'OperatorCancel' });

export const OperatorGiveUp = z
  .strictObject({
    shard: ShardNo.optional().meta({ description: 'Every open shard where it is left out.' }),
    reason: plainText(500).meta({ description: 'Why, as the tenant is told in the event.' }),
  })
  .meta({ id: 'OperatorGiveUp' });
export type OperatorGiveUp = z.infer<typeof OperatorGiveUp>;

export const OperatorReIngest = z
  .strictObject({
    shard: ShardNo.optional().meta({ description: 'Every shard that has a batch where it is left out.' }),
    reason: Reason.optional(),
  })
  .meta({ id: 'OperatorReIngest' });
export type OperatorReIngest = z.infer<typeof OperatorReIngest>;

export const OperatorResolve = z
  .strictObject({
    shard: ShardNo,
    provider_batch_id: plainText(500).optional().meta({ description: 'The candidate that is the shard’s batch.' }),
    none: z.literal(true).optional().meta({ description: 'No candidate is: a new batch may be made.' }),
    reason: Reason,
  })
  .refine(
    ({ provider_batch_id: id, none }) => (id === undefined) !== (none === undefined),
    'either provider_batch_id or none',
  )
  .meta({ id: 'OperatorResolve' });
export type OperatorResolve = z.infer<typeof OperatorResolve>;

export const OperatorActTaken = z
  .object({
    job_id: z.string(),
    shards: z.array(z.int()).meta({ description: 'Those it is done to.' }),
    signalled: z.boolean().meta({
      description:
        'Whether their workflows were told. What is asked for stands all the same; repeat it to tell them at once.',
    }),
  })
  .meta({ id: 'OperatorActTaken' });
export type OperatorActTaken = z.infer<typeof OperatorActTaken>;

export const OperatorActEntry = z
  .object({
    act: z.enum(OPERATOR_ACTS),
    shard: z.int().nullable(),
    actor: z.string().meta({ description: 'The id of the operator’s key, or `gateway` for what came of it.' }),
    reason: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
    at: Timestamp,
  })
  .meta({ id: 'OperatorActEntry' });
