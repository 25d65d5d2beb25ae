import { expect, test } from 'vitest';
import { readQueueLimit } from './queue-limit.ts';

const NOTHING = { inputTokens: null, items: null };

test.each([
  [
    'Enqueued token limit reached for gpt-4o-mini in organization org-1. Limit: 2,000,000 enqueued tokens. Please try again once some in_progress batches have been completed.',
    { inputTokens: 2_000_000, items: null },
  ],
  ['Limit: 90000 enqueued tokens.', { inputTokens: 90_000, items: null }],
  ['You have reached the limit of 200,000 queued batch requests.', { inputTokens: null, items: 200_000 }],
  ['Enqueued token limit reached for gpt-4o-mini.', NOTHING],
  ['Limit: 0 enqueued tokens.', NOTHING],
  ['Limit: 99999999999999999999 enqueued tokens.', NOTHING],
  ['You exceeded your current quota. Please retry in 20s.', NOTHING],
  ['', NOTHING],
])('%s', (message, expected) => {
  expect(readQueueLimit(message)).toEqual(expected);
});
