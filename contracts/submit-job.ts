import { z } from 'zod';
import { notYet } from './not-yet.ts';

export const SubmitJob = z.strictObject({ sample: notYet('sample') }).meta({ id: 'SubmitBatchJob' });
export type SubmitJob = z.infer<typeof SubmitJob>;

const MAX_WAIT_SECONDS = 60;
const DEFAULT_WAIT_SECONDS = 10;

const WAIT = /(?:^|[,;\s])wait\s*=\s*"?([0-9]{1,6})"?(?=$|[,;\s])/i;

/** Seconds a caller will wait for an answer, from a `Prefer` header (RFC 7240); what it cannot read is as if unsaid. */
export function waitSeconds(prefer: string | undefined): number {
  const match = prefer === undefined ? null : WAIT.exec(prefer);
  return match === null ? DEFAULT_WAIT_SECONDS : Math.min(Number(match[1]), MAX_WAIT_SECONDS);
}
