/** For a batch that the provider gave no end of its window. */
const USUAL_WINDOW_MS = 24 * 3_600_000;

export interface RefusedCredential {
  /** The first refusal of those that nothing else came between. */
  readonly since: Date;
  /** Null where nothing was sent. */
  readonly batch: {
    /** Null while no end was seen. */
    readonly endedAt: Date | null;
    /** The end of the provider's window. */
    readonly expiresAt: Date | null;
    readonly sentAt: Date;
  } | null;
}

/**
 * When a refused credential has been waited for long enough. What was sent may have run, and its results are paid for:
 * the wait for those begins no sooner than the batch has ended, or its window where no end was seen.
 */
export function credentialWaitEnds({ since, batch }: RefusedCredential, waitMs: number): Date {
  return new Date(Math.max(since.getTime(), batch === null ? 0 : latestEnd(batch)) + waitMs);
}

function latestEnd({ endedAt, expiresAt, sentAt }: NonNullable<RefusedCredential['batch']>): number {
  return (endedAt ?? expiresAt)?.getTime() ?? sentAt.getTime() + USUAL_WINDOW_MS;
}
