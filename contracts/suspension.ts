import { z } from 'zod';
import { Currency, Money } from './money.ts';
import { plainText, Timestamp } from './text.ts';

export const SuspensionId = z
  .string()
  .meta({ description: 'A suspension’s id.', example: 'susp_01j7zb8k3te9aabfm0z0e2d3k4' });

export const Suspension = z
  .object({
    suspension_id: SuspensionId,
    tenant_id: z.string(),
    scope: z.enum(['tenant', 'project', 'customer']),
    scope_id: z.string(),
    job_id: z.string().meta({ description: 'The job, task or run that cost more than was held for it.' }),
    overage: Money,
    currency: Currency,
    created_at: Timestamp,
    lifted_at: Timestamp.nullable(),
    lifted_by: z.string().nullable().meta({ description: 'The id of the admin’s key.' }),
    lift_reason: z.string().nullable(),
  })
  .meta({ id: 'Suspension', description: 'A scope that may submit nothing new until an admin lifts it.' });
export type Suspension = z.infer<typeof Suspension>;

export const SuspensionList = z.object({ data: z.array(Suspension) }).meta({ id: 'SuspensionList' });
export type SuspensionList = z.infer<typeof SuspensionList>;

export const SuspensionQuery = z.strictObject({
  lifted: z
    .enum(['exclude', 'include'])
    .default('exclude')
    .meta({ description: 'Whether those that were lifted are listed too.' }),
});
export type SuspensionQuery = z.infer<typeof SuspensionQuery>;

export const LiftSuspension = z
  .strictObject({ reason: plainText(500).meta({ description: 'Why, for whoever looks later.' }) })
  .meta({ id: 'LiftSuspension' });
export type LiftSuspension = z.infer<typeof LiftSuspension>;
