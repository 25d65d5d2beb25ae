/** What the rows say of the attempt whose token a listed batch carries. */
export interface TokenHolder {
  readonly providerBatchId: string | null;
  readonly createOutcome: 'accepted' | 'refused' | 'not_found' | 'not_sent' | null;
  readonly createDeadline: Date | null;
  readonly closedAt: Date | null;
}

/**
 * Whether a batch at the provider is proven to be one too many: its attempt has another batch, or is over without one.
 * While the create is unanswered, or could still be found in a late list, the batch may be the attempt's own.
 */
export function isSurplus(
  providerBatchId: string,
  holder: TokenHolder,
  { at, listingLagMs }: { readonly at: Date; readonly listingLagMs: number },
): boolean {
  if (holder.providerBatchId === providerBatchId || holder.createOutcome === null) return false;
  const knownAt = (holder.createDeadline?.getTime() ?? 0) + listingLagMs;
  if (at.getTime() <= knownAt) return false;
  return holder.providerBatchId !== null || holder.closedAt !== null;
}
