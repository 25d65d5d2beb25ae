import { z } from 'zod';

export const SubmitJob = z
  .strictObject({
    sample: z.undefined({ error: 'sample is not supported by this version of the gateway' }).optional(),
  })
  .meta({ id: 'SubmitBatchJob' });
export type SubmitJob = z.infer<typeof SubmitJob>;

export const MAX_WAIT_SECONDS = 60;
export const DEFAULT_WAIT_SECONDS = 10;

const WAIT = /(?:^|[,;\s])wait\s*=\s*"?([0-9]{1,6})"?(?=$|[,;\s])/i;

/** Seconds a caller will wait for an answer, from a `Prefer` header (RFC 7240); what it cannot read is as if unsaid. */
export function waitSeconds(prefer: string | undefined): number {
  const match = prefer === undefined ? null : WAIT.exec(prefer);
  return match === null ? DEFAULT_WAIT_SECONDS : Math.min(Number(match[1]), MAX_WAIT_SECONDS);
}
