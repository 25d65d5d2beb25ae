import { defineSearchAttributeKey } from '@temporalio/common';

/**
 * The custom search attributes of every workflow. All keywords: SQL visibility stores have a small fixed pool per
 * type. Nothing secret and nothing per item: they are never encrypted.
 */
export const searchAttributes = {
  tenant: defineSearchAttributeKey('BatchgateTenant', 'KEYWORD'),
  customer: defineSearchAttributeKey('BatchgateCustomer', 'KEYWORD'),
  provider: defineSearchAttributeKey('BatchgateProvider', 'KEYWORD'),
  model: defineSearchAttributeKey('BatchgateModel', 'KEYWORD'),
  status: defineSearchAttributeKey('BatchgateStatus', 'KEYWORD'),
  /** RFC 3339 in UTC, which sorts as time does. A workflow that continues as new has a new StartTime, so that tells no age. */
  submitted: defineSearchAttributeKey('BatchgateSubmittedAt', 'KEYWORD'),
} as const;
