import { describe, expect, test } from 'vitest';
import { FAILURE_CLASSES, type FailureClass } from './failure.ts';
import {
  type NamedItem,
  nothingToRetry,
  objectionTo,
  type RetryWish,
  requireRetriable,
  retriedClasses,
} from './manual-retry.ts';

const WISH: RetryWish = { classes: null, customIds: null, corrected: [], acknowledgesSafety: false };
const ITEM: NamedItem = {
  customId: 'a',
  exists: true,
  failureClass: 'expired',
  isClaimed: false,
  isUncollected: false,
};

describe('classes', () => {
  test('every class is taken in exactly one way, where all is given that it takes', () => {
    const wish = { ...WISH, customIds: ['a'], corrected: ['a'], acknowledgesSafety: true };
    const { plain, ifCorrected, ifNamed } = retriedClasses(wish);
    expect([...plain, ...ifCorrected, ...ifNamed].toSorted()).toEqual([...FAILURE_CLASSES].toSorted());
    expect([ifCorrected, ifNamed]).toEqual([['validation'], ['safety_blocked']]);
  });

  test('a wish narrows them', () => {
    const classes: FailureClass[] = ['expired', 'validation'];
    const { plain, ifCorrected, ifNamed } = retriedClasses({ ...WISH, classes, corrected: ['a'] });
    expect([plain, ifCorrected, ifNamed]).toEqual([['expired'], ['validation'], []]);
  });

  test.each<[string, Partial<RetryWish>, string, string]>([
    ['validation without another request', { classes: ['validation'] }, 'retry_not_allowed', 'classes'],
    ['safety_blocked by class', { classes: ['safety_blocked'] }, 'safety_acknowledgement_required', 'classes'],
    ['an acknowledgement of all', { acknowledgesSafety: true }, 'safety_acknowledgement_required', 'custom_ids'],
  ])('%s is refused', (_, wish, code, field) => {
    expect(() => retriedClasses({ ...WISH, ...wish })).toThrow(expect.objectContaining({ code, field }));
  });
});

test.each<[string, Partial<NamedItem>, Partial<RetryWish>, string | null]>([
  ['an expired item', {}, {}, null],
  ['one the job does not have', { exists: false }, {}, 'not_found'],
  ['a completed one', { failureClass: null }, {}, null],
  ['one that is retried already', { isClaimed: true, failureClass: 'validation' }, {}, null],
  ['one of a class left out', { failureClass: 'validation' }, { classes: ['expired'] }, null],
  ['one whose answer may come', { isUncollected: true }, {}, 'conflict'],
  ['an invalid one', { failureClass: 'validation' }, {}, 'retry_not_allowed'],
  ['an invalid one with another request', { failureClass: 'validation' }, { corrected: ['a'] }, null],
  ['a blocked one', { failureClass: 'safety_blocked' }, { corrected: ['a'] }, 'safety_acknowledgement_required'],
  ['a blocked one, acknowledged', { failureClass: 'safety_blocked' }, { acknowledgesSafety: true }, null],
])('of named items, %s is judged by its rule', (_, item, wish, error) => {
  expect(objectionTo({ ...ITEM, ...item }, { ...WISH, ...wish })?.error ?? null).toBe(error);
});

test('named items are refused together, each with its reason', () => {
  const blocked: NamedItem = { ...ITEM, customId: 'b', failureClass: 'safety_blocked' };
  expect(() => requireRetriable([ITEM, blocked], WISH)).toThrow(
    expect.objectContaining({ code: 'safety_acknowledgement_required', detailsCount: 1 }),
  );
  const unknown: NamedItem = { ...ITEM, customId: 'c', exists: false };
  expect(() => requireRetriable([blocked, unknown], WISH)).toThrow(
    expect.objectContaining({ code: 'retry_not_allowed', detailsCount: 2 }),
  );
  expect(() => requireRetriable([ITEM], WISH)).not.toThrow();
});

test('where nothing is left the jobs that retry the items are named, and what others would take', () => {
  const left = { claimingJobs: [], classes: [], isUncollected: false };
  expect(nothingToRetry(left)).toMatchObject({ code: 'nothing_to_retry', message: 'There is nothing to retry.' });
  expect(nothingToRetry({ ...left, claimingJobs: ['job_1', 'job_2'] }).message).toContain('by job_1, job_2');
  expect(nothingToRetry({ ...left, classes: ['validation'] }).message).toContain('requests');
  expect(nothingToRetry({ ...left, isUncollected: true }).code).toBe('conflict');
});
