import { expect, test } from 'vitest';
import {
  cancelStep,
  countsBy,
  finishedBy,
  forcedStep,
  nextStep,
  type Pace,
  type Step,
  type Work,
} from './batch-progress.ts';
import type { BatchStatus, RunnableBatch } from './batch-record.ts';
import { FATES, type Fate } from './fates.ts';
import type { FaultAction } from './fault-actions.ts';

const PACE: Pace = {
  validatingMs: 100,
  inProgressMs: 1_000,
  finalizingMs: 50,
  cancellingMs: 200,
  itemsPerSecond: null,
};
const WINDOW_MS = 86_400_000;
const SUCCEEDS: Fate[] = Array.from({ length: 10 }, () => 'succeeds');

function batch(status: BatchStatus, more: Partial<RunnableBatch> = {}): RunnableBatch {
  return {
    id: 'batch_1',
    seq: 1,
    inputFileId: 'file-1',
    status,
    enteredAt: status === 'validating' ? {} : { in_progress: 100, [status]: 100 },
    createdAt: 0,
    expiresAt: WINDOW_MS,
    total: status === 'validating' ? 0 : 10,
    script: {},
    ...more,
  };
}

function work(fates: Fate[] = SUCCEEDS, more: Partial<Work> = {}): Work {
  const codes = Uint8Array.from(fates.map((fate) => FATES.indexOf(fate)));
  const ends = fates.filter((fate) => fate !== 'hangs').length;
  return {
    validated: { errors: [], fates: codes, ends, tookMs: 1 },
    ...more,
  };
}

const bad = [{ code: 'empty_file', message: '', param: null, line: null }];
const invalid: Work = {
  validated: { errors: bad, fates: new Uint8Array(), ends: 0, tookMs: 1 },
};
const completed = { status: 'completed', finished: 10, listsUnfinished: false } as const;
const expired = { status: 'expired', finished: 10, listsUnfinished: true } as const;
const stuck = (state: 'validating' | 'in_progress' | 'finalizing' | 'cancelling', more = {}) => ({
  script: { stuck: { state, ...more } },
});
const ends = (end: NonNullable<FaultAction['end_state']>) => ({ script: { end_state: end } });

const STEPS: { name: string; batch: RunnableBatch; work: Work; step: Step | undefined }[] = [
  { name: 'a batch not yet read waits', batch: batch('validating'), work: {}, step: undefined },
  {
    name: 'a good file goes in progress',
    batch: batch('validating'),
    work: work(),
    step: { at: 100, to: 'in_progress' },
  },
  { name: 'a bad file fails', batch: batch('validating'), work: invalid, step: { at: 100, to: 'failed' } },
  {
    name: 'reading that took longer than the pace delays the state',
    batch: batch('validating'),
    work: { validated: { errors: [], fates: Uint8Array.of(0), ends: 1, tookMs: 700 } },
    step: { at: 700, to: 'in_progress' },
  },
  {
    name: 'a batch whose items are done goes finalizing',
    batch: batch('in_progress'),
    work: work(),
    step: { at: 1_100, to: 'finalizing', ending: completed },
  },
  {
    name: 'a batch with hanging items expires as soon as the others are done',
    batch: batch('in_progress'),
    work: work([...SUCCEEDS.slice(1), 'hangs']),
    step: { at: 1_100, to: 'finalizing', ending: { ...expired, finished: 9 } },
  },
  {
    name: 'files not yet written hold it',
    batch: batch('finalizing', { ending: completed }),
    work: work(),
    step: undefined,
  },
  {
    name: 'a batch whose files are written completes',
    batch: batch('finalizing', { ending: completed }),
    work: work(SUCCEEDS, { resultsTookMs: 5 }),
    step: { at: 150, to: 'completed' },
  },
  {
    name: 'a cancelling batch is cancelled',
    batch: batch('cancelling', { ending: { status: 'cancelled', finished: 3, listsUnfinished: true } }),
    work: work(SUCCEEDS, { resultsTookMs: 5 }),
    step: { at: 300, to: 'cancelled' },
  },
  { name: 'an ended batch stays', batch: batch('completed'), work: work(), step: undefined },
  {
    name: 'a batch stuck in validation expires with its window',
    batch: batch('validating', stuck('validating')),
    work: work(),
    step: { at: WINDOW_MS, to: 'finalizing', ending: { ...expired, finished: 0 } },
  },
  {
    name: 'a batch stuck in progress expires with what it finished',
    batch: batch('in_progress', stuck('in_progress', { finished: 5 })),
    work: work(),
    step: { at: WINDOW_MS, to: 'finalizing', ending: { ...expired, finished: 5 } },
  },
  {
    name: 'a batch stuck beyond its window never moves',
    batch: batch('in_progress', stuck('in_progress', { past_expiry: true })),
    work: work(),
    step: undefined,
  },
  {
    name: 'a batch stuck for a while goes on after it',
    batch: batch('in_progress', stuck('in_progress', { for_ms: 5_000 })),
    work: work(),
    step: { at: 5_100, to: 'finalizing', ending: completed },
  },
  {
    name: 'a batch stuck in finalizing expires',
    batch: batch('finalizing', { ending: completed, ...stuck('finalizing') }),
    work: work(SUCCEEDS, { resultsTookMs: 5 }),
    step: { at: WINDOW_MS, to: 'finalizing', ending: expired },
  },
  {
    name: 'a batch that expired out of being stuck in finalizing ends',
    batch: batch('finalizing', { ending: expired, enteredAt: { finalizing: WINDOW_MS }, ...stuck('finalizing') }),
    work: work(SUCCEEDS, { resultsTookMs: 5 }),
    step: { at: WINDOW_MS + 50, to: 'expired' },
  },
  {
    name: 'a batch stuck in cancelling stays, expiry or not',
    batch: batch('cancelling', { ending: { ...completed, status: 'cancelled' }, ...stuck('cancelling') }),
    work: work(SUCCEEDS, { resultsTookMs: 5 }),
    step: undefined,
  },
  {
    name: 'a failure with nothing finished comes at validation',
    batch: batch('validating', ends({ status: 'failed' })),
    work: work(),
    step: { at: 100, to: 'failed' },
  },
  {
    name: 'a failure with something finished comes after progress',
    batch: batch('in_progress', ends({ status: 'failed', finished: 2 })),
    work: work(),
    step: { at: 1_100, to: 'finalizing', ending: { status: 'failed', finished: 2, listsUnfinished: false } },
  },
  {
    name: 'an end asked for at once does not wait for the pace',
    batch: batch('in_progress', { ...ends({ status: 'expired', finished: 2 }), forcedAt: 300 }),
    work: work(),
    step: { at: 300, to: 'finalizing', ending: { ...expired, finished: 2 } },
  },
];

test.for(STEPS)('$name', ({ batch: given, work: done, step }) => {
  expect(nextStep(given, done, PACE)).toEqual(step);
});

test.for([
  { time: 100, finished: 0 },
  { time: 600, finished: 5 },
  { time: 1_100, finished: 10 },
  { time: 9_999, finished: 10 },
])('has finished $finished of 10 items at $time', ({ time, finished }) => {
  expect(finishedBy(batch('in_progress'), work(), PACE, time)).toBe(finished);
});

test('finishes items at the rate given instead of within a time', () => {
  const pace = { ...PACE, itemsPerSecond: 2 };
  expect(finishedBy(batch('in_progress'), work(), pace, 1_100)).toBe(2);
  expect(nextStep(batch('in_progress'), work(), pace)?.at).toBe(5_100);
});

test('never takes back what it has shown when the pace slows down', () => {
  expect(finishedBy(batch('in_progress'), work(SUCCEEDS, { shown: 8 }), PACE, 600)).toBe(8);
});

test('counts failures apart, hanging items not at all and vanishing ones as completed', () => {
  const fates: Fate[] = ['succeeds', 'hangs', 'fails', 'vanishes', 'succeeds'];
  const running = batch('in_progress', { total: 5 });
  expect(countsBy(running, work(fates), PACE, 9_999)).toEqual({ total: 5, completed: 3, failed: 1 });
  expect(countsBy(running, work(fates), PACE, 500)).toEqual({ total: 5, completed: 1, failed: 1 });
});

test('lets items finish while a cancel is under way', () => {
  const step = cancelStep(batch('in_progress'), work(), PACE, 400);
  expect(step).toEqual({
    at: 400,
    to: 'cancelling',
    ending: { status: 'cancelled', finished: 5, listsUnfinished: true },
  });
});

test('finishes nothing when a cancel comes before progress', () => {
  expect(cancelStep(batch('validating'), {}, PACE, 50).ending?.finished).toBe(0);
});

test('keeps a scripted end when a cancel comes', () => {
  const step = cancelStep(batch('in_progress', ends({ status: 'completed' })), work(), PACE, 400);
  expect(step).toEqual({ at: 400, to: 'cancelling', ending: completed });
});

test('begins a forced cancel as cancelling and lists what was left', () => {
  expect(forcedStep(batch('in_progress', ends({ status: 'cancelled', finished: 99 })), work(), 400)).toEqual({
    at: 400,
    to: 'cancelling',
    ending: { status: 'cancelled', finished: 10, listsUnfinished: true },
  });
});
