/**
 * What people are shown an attempt at an item as: the caller's id, and from the second attempt on with the number of the
 * retry. It tells attempts apart for readers alone: a caller may have given the same id to an item of its own.
 */
export function retryName(customId: string, attempt: number): string {
  return attempt <= 1 ? customId : `${customId}.retry_${attempt - 1}`;
}
