import { z } from 'zod';

/** Enough to see what replies look like and cost; a job of its own is cheap only while it is small. */
export const MAX_SAMPLE_ITEMS = 1_000;

export const SubmitJob = z
  .strictObject({
    sample: z
      .int()
      .min(1)
      .max(MAX_SAMPLE_ITEMS)
      .optional()
      .meta({
        description:
          'Submits a job of its own with so many of the items, spread evenly over the manifest, for a look at replies and ' +
          'cost. The draft stays a draft. All items where it has no more.',
        example: 10,
      }),
  })
  .meta({ id: 'SubmitBatchJob' });
export type SubmitJob = z.infer<typeof SubmitJob>;

const MAX_WAIT_SECONDS = 60;
const DEFAULT_WAIT_SECONDS = 10;

const WAIT = /(?:^|[,;\s])wait\s*=\s*"?([0-9]{1,6})"?(?=$|[,;\s])/i;

/** Seconds a caller will wait for an answer, from a `Prefer` header (RFC 7240); what it cannot read is as if unsaid. */
export function waitSeconds(prefer: string | undefined): number {
  const match = prefer === undefined ? null : WAIT.exec(prefer);
  return match === null ? DEFAULT_WAIT_SECONDS : Math.min(Number(match[1]), MAX_WAIT_SECONDS);
}
