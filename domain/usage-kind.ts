/** What kind of movement of money a record of usage tells of. */
export const USAGE_KINDS = ['charge', 'refund', 'adjustment'] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];
