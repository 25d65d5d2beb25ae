import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isTooLargeForQueue, mayTakeRoom, nextTurnDelay, type QueueSituation, wasAlone } from './capacity.ts';

const AT = new Date('2026-11-30T12:00:00Z');
const later = (ms: number) => new Date(AT.getTime() + ms);
const HOUR_MS = 3_600_000;
const UNKNOWN = { inputTokens: null, items: null, batches: null };
const NOTHING = { batches: 0, items: 0, inputTokens: 0, unproven: 0 };
const ONE_RUNS = { batches: 1, items: 10, inputTokens: 600, unproven: 0 };
const OPEN = { fullSince: null, lastRefusedAt: null, probeAt: null, roomAt: null, limits: UNKNOWN };
const FULL = { ...OPEN, fullSince: later(-HOUR_MS), lastRefusedAt: later(-60_000), probeAt: later(60_000) };
const NAMED = { inputTokens: 1_000, items: null };
const FIRST = { items: 10, inputTokens: 600, waitedMs: 0, isFirst: true, triesAt: null };

interface Scene {
  account?: QueueSituation['account'];
  hints?: Partial<QueueSituation['hints']>;
  others?: QueueSituation['others'];
  shard?: Partial<QueueSituation['shard']>;
}

function situation({ account = OPEN, hints = {}, others = NOTHING, shard = {} }: Scene): QueueSituation {
  return { account, hints: { ...UNKNOWN, ...hints }, others, shard: { ...FIRST, ...shard }, at: AT };
}

test.each<[string, Scene, boolean]>([
  ['goes where nothing is known', {}, true],
  ['goes beside others where nothing is known', { others: { ...ONE_RUNS, unproven: 1 } }, true],
  ['waits behind one that has waited longer', { shard: { isFirst: false } }, false],
  ['waits in a full queue until it is time to try', { account: FULL }, false],
  ['tries a full queue once it is time', { account: { ...FULL, probeAt: AT } }, true],
  [
    'waits while another tries a full queue',
    { account: { ...FULL, probeAt: AT }, others: { ...ONE_RUNS, unproven: 1 } },
    false,
  ],
  [
    'waits when it does not fit the named limit',
    { account: { ...FULL, limits: NAMED, probeAt: AT }, others: ONE_RUNS },
    false,
  ],
  [
    'goes beside another try when both fit the named limit',
    {
      account: { ...FULL, limits: NAMED, probeAt: AT },
      others: { ...ONE_RUNS, unproven: 1 },
      shard: { inputTokens: 400 },
    },
    true,
  ],
  [
    'goes alone whatever the named limit',
    { account: { ...FULL, limits: { ...NAMED, inputTokens: 10 }, probeAt: AT } },
    true,
  ],
  [
    'waits for items too',
    { account: { ...FULL, limits: { inputTokens: null, items: 15 }, probeAt: AT }, others: ONE_RUNS },
    false,
  ],
  [
    'no longer believes a limit named a day ago',
    { account: { ...OPEN, limits: NAMED, lastRefusedAt: later(-24 * HOUR_MS) }, others: ONE_RUNS },
    true,
  ],
  ['goes alone over a published limit', { hints: { inputTokens: 100 } }, true],
  ['waits over a published limit', { hints: { inputTokens: 1_000 }, others: ONE_RUNS }, false],
  ['waits over a published number of batches', { hints: { batches: 1 }, others: ONE_RUNS }, false],
  [
    'tries over a published limit when its timer ends',
    { hints: { inputTokens: 1_000 }, others: ONE_RUNS, shard: { triesAt: AT } },
    true,
  ],
  [
    'tries over a published limit one at a time',
    { hints: { inputTokens: 1_000 }, others: { ...ONE_RUNS, unproven: 1 }, shard: { triesAt: AT } },
    false,
  ],
])('a shard %s', (_rule, scene, expected) => {
  expect(mayTakeRoom(situation(scene))).toBe(expected);
});

const PACE = { capacityRetryMs: 10_000, random01: 0 };

test.each<[string, Scene, number]>([
  ['the first of a full queue asks when it is time to try', { account: FULL }, 60_000],
  [
    'one behind it asks at its own growing pace',
    { account: FULL, shard: { isFirst: false, waitedMs: 100_000 } },
    50_000,
  ],
  [
    'being woken does not put a timer off',
    { account: OPEN, shard: { triesAt: later(3_000), waitedMs: HOUR_MS } },
    3_000,
  ],
  [
    'a timer that is later than the time to try is cut short',
    { account: FULL, shard: { triesAt: later(HOUR_MS) } },
    60_000,
  ],
  ['a timer that has ended is set anew', { shard: { triesAt: later(-1) } }, 10_000],
])('%s', (_rule, scene, expected) => {
  expect(nextTurnDelay(situation(scene), PACE)).toBe(expected);
});

test('a shard alone in the queue of an account is sent once its delay is over, whatever limits are known of', () => {
  const limit = fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: null });
  fc.assert(
    fc.property(limit, limit, limit, fc.boolean(), (inputTokens, items, batches, isFull) => {
      const account = isFull ? { ...FULL, probeAt: AT, limits: { inputTokens, items } } : OPEN;
      expect(mayTakeRoom(situation({ account, hints: { inputTokens, items, batches } }))).toBe(true);
    }),
  );
});

test.each([
  [{ refusedAlone: 0, inputTokens: 5_000, limitTokens: 1_000 }, false],
  [{ refusedAlone: 1, inputTokens: 1_001, limitTokens: 1_000 }, true],
  [{ refusedAlone: 2, inputTokens: 1_000, limitTokens: 1_000 }, false],
  [{ refusedAlone: 3, inputTokens: 501, limitTokens: 1_000 }, true],
  [{ refusedAlone: 9, inputTokens: 500, limitTokens: 1_000 }, false],
  [{ refusedAlone: 2, inputTokens: 500, limitTokens: null }, false],
  [{ refusedAlone: 3, inputTokens: 500, limitTokens: null }, true],
])('a shard refused so: %o is too large for the queue: %s', (refused, expected) => {
  expect(isTooLargeForQueue(refused)).toBe(expected);
});

test.each([
  ['nothing else is or was there', OPEN, NOTHING, true],
  ['another is there', OPEN, ONE_RUNS, false],
  ['another left after it was sent', { ...OPEN, roomAt: AT }, NOTHING, false],
  ['the last one left before', { ...OPEN, roomAt: later(-1) }, NOTHING, true],
])('whether a refused batch was alone: %s', (_what, account, others, expected) => {
  expect(wasAlone(account, others, AT)).toBe(expected);
});
