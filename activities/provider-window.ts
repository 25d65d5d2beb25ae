import type { AttemptRow } from '../db/attempts.ts';

/** How long past its window a provider may owe an answer, an end or its results before the batch is called lost. */
const OUT_OF_REACH_MS = 48 * 3_600_000;
/** An end may be told a little late before anybody need know. */
const OVERDUE_MS = 3_600_000;
/** For a batch that the provider gave no end of its window. */
const USUAL_WINDOW_MS = 24 * 3_600_000;

/** Negative while the window lasts. */
function pastWindowMs({ expiresAt, acceptedAt, createdAt }: AttemptRow, at: Date): number {
  const closesAt = expiresAt?.getTime() ?? (acceptedAt ?? createdAt).getTime() + USUAL_WINDOW_MS;
  return at.getTime() - closesAt;
}

/** The batch should have ended by now, and operators should see that it has not. */
export function isOverdue(attempt: AttemptRow, at: Date): boolean {
  return pastWindowMs(attempt, at) >= OVERDUE_MS;
}

/** Nothing can be hoped for any more. */
export function isOutOfReach(attempt: AttemptRow, at: Date): boolean {
  return pastWindowMs(attempt, at) >= OUT_OF_REACH_MS;
}
