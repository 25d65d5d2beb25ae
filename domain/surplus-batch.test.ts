import { expect, test } from 'vitest';
import { isSurplus, type TokenHolder } from './surplus-batch.ts';

const DEADLINE = new Date('2026-11-30T12:00:00Z');
const LATER = new Date('2026-11-30T13:00:00Z');
const accepted: TokenHolder = {
  providerBatchId: 'batch-own',
  createOutcome: 'accepted',
  createDeadline: DEADLINE,
  closedAt: null,
};
const notFound: TokenHolder = { ...accepted, providerBatchId: null, createOutcome: 'not_found', closedAt: LATER };

test.each<[string, boolean, string, Partial<TokenHolder>, Date]>([
  ["the attempt's own batch", false, 'batch-own', accepted, LATER],
  ['a second batch of an attempt that has one', true, 'batch-two', accepted, LATER],
  ['a second batch of a closed attempt', true, 'batch-two', { ...accepted, closedAt: LATER }, LATER],
  ['a batch that showed itself after it was given up', true, 'batch-late', notFound, LATER],
  ['a batch of a create that was refused', true, 'batch-late', { ...notFound, createOutcome: 'refused' }, LATER],
  ['a batch of an unanswered create', false, 'batch-late', { ...notFound, createOutcome: null, closedAt: null }, LATER],
  ['a batch of an attempt that is not over', false, 'batch-late', { ...notFound, closedAt: null }, LATER],
  ['a second batch before the listing lag is over', false, 'batch-two', accepted, new Date(DEADLINE.getTime() + 500)],
])('%s: surplus is %s', (_what, expected, id, holder, at) => {
  expect(isSurplus(id, { ...accepted, ...holder }, { at, listingLagMs: 1_000 })).toBe(expected);
});
