import { z } from 'zod';
import { FaultAction } from './fault-actions.ts';

/** The states of a batch in the simulators' own words; each provider shows them in its own. */
export const BATCH_STATUSES = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** How a batch is about to end: decided when it leaves `in_progress`, before its files are written. */
export const Ending = z.object({
  status: z.enum(['completed', 'failed', 'expired', 'cancelled']),
  finished: z.number(),
  listsUnfinished: z.boolean(),
});
export type Ending = z.infer<typeof Ending>;

/** What came of a batch's items. */
export const Tally = z.object({ completed: z.number(), failed: z.number(), total: z.number() });
export type Tally = z.infer<typeof Tally>;

/** What every provider's batch needs to go through its states, after a restart too. Times are unix milliseconds. */
export const RunnableBatch = z.object({
  id: z.string(),
  seq: z.number(),
  inputFileId: z.string(),
  status: z.enum(BATCH_STATUSES),
  /** When each state was entered. */
  enteredAt: z.partialRecord(z.enum(BATCH_STATUSES), z.number()),
  createdAt: z.number(),
  expiresAt: z.number(),
  /** Items; 0 until they were counted. */
  total: z.number(),
  ending: Ending.optional(),
  result: Tally.optional(),
  /** What faults have in store for it. */
  script: FaultAction.pick({ end_state: true, stuck: true, list_lag_ms: true }),
  /** When its scripted end was asked for at once, past the pace. */
  forcedAt: z.number().optional(),
});
export type RunnableBatch = z.infer<typeof RunnableBatch>;

const TERMINAL: ReadonlySet<BatchStatus> = new Set(['completed', 'failed', 'expired', 'cancelled']);

export function isTerminal(status: BatchStatus): boolean {
  return TERMINAL.has(status);
}
