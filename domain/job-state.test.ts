import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cancelOutcome,
  canMove,
  deriveStatus,
  type EndCounts,
  endState,
  isTerminal,
  JOB_STATES,
  type JobState,
  jobErrorCode,
} from './job-state.ts';
import type { ShardState } from './shard-state.ts';

const ENDS: readonly JobState[] = ['completed', 'completed_with_errors', 'expired', 'cancelled', 'failed'];
const counts = (completed: number, failed: number, expired: number, cancelled: number): EndCounts => ({
  total: completed + failed + expired + cancelled,
  completed,
  failed,
  expired,
  cancelled,
});

describe('transitions', () => {
  test.each<[JobState, readonly JobState[]]>([
    ['draft', ['validating', 'cancelled']],
    ['validating', ['draft', 'queued', 'running', 'finalizing', 'cancel_requested', ...ENDS]],
    ['queued', ['validating', 'running', 'finalizing', 'cancel_requested', ...ENDS]],
    ['running', ['validating', 'queued', 'finalizing', 'cancel_requested', ...ENDS]],
    ['finalizing', ['validating', 'queued', 'running', 'cancel_requested', ...ENDS]],
    ['cancel_requested', ENDS],
    ...ENDS.map((end): [JobState, readonly JobState[]] => [end, []]),
  ])('from %s lead exactly to %j', (from, allowed) => {
    expect(JOB_STATES.filter((to) => canMove(from, to)).toSorted()).toEqual(allowed.toSorted());
  });

  test('the terminal states are those that nothing leaves', () => {
    expect(JOB_STATES.filter(isTerminal)).toEqual(
      JOB_STATES.filter((from) => !JOB_STATES.some((to) => canMove(from, to))),
    );
  });
});

describe('endState', () => {
  test.each([
    [counts(3, 0, 0, 0), 'completed'],
    [counts(2, 1, 0, 0), 'completed_with_errors'],
    [counts(0, 3, 0, 0), 'failed'],
    [counts(2, 0, 1, 0), 'expired'],
    [counts(1, 1, 1, 1), 'expired'],
    [counts(0, 0, 3, 0), 'expired'],
    [counts(2, 0, 0, 1), 'cancelled'],
    [counts(0, 2, 0, 1), 'cancelled'],
    [counts(0, 0, 0, 3), 'cancelled'],
  ])('ends %j as %s', (ended, state) => {
    expect(endState(ended)).toBe(state);
  });

  test.each([1, -1])('refuses counts that miss the total by %i', (error) => {
    expect(() => endState({ ...counts(2, 1, 0, 0), total: 3 + error })).toThrow(RangeError);
  });

  test('finds an end for all counts, one that a live job may move to', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), fc.nat(), (completed, failed, expired, cancelled) => {
        const state = endState(counts(completed, failed, expired, cancelled));
        expect(isTerminal(state)).toBe(true);
        expect(canMove('finalizing', state) && canMove('cancel_requested', state)).toBe(true);
      }),
    );
  });
});

describe('jobErrorCode', () => {
  test.each([
    [{ provider_rejected: 5 }, 'provider_rejected'],
    [{ provider_lost: 5, provider_server_error: 0 }, 'provider_lost'],
    [{ provider_lost: 4, provider_rejected: 1 }, 'all_items_failed'],
    [{ provider_server_error: 5 }, 'all_items_failed'],
    [{}, 'all_items_failed'],
  ] as const)('of a failed job with %j is %s', (failures, code) => {
    expect(jobErrorCode('failed', failures)).toBe(code);
  });

  test('is null for a job that ended in another way', () => {
    expect(jobErrorCode('completed_with_errors', { provider_lost: 5 })).toBeNull();
  });
});

describe('deriveStatus', () => {
  test.each<[readonly ShardState[], JobState]>([
    [[], 'queued'],
    [['planned', 'uploading', 'creating', 'waiting', 'submitted', 'queued'], 'queued'],
    [['indeterminate'], 'queued'],
    [['queued', 'validating'], 'validating'],
    [['validating', 'running'], 'running'],
    [['settled', 'running'], 'running'],
    [['settled', 'validating'], 'running'],
    [['settled', 'planned'], 'running'],
    [['finalizing', 'waiting'], 'running'],
    [['cancelling', 'settled'], 'running'],
    [['finalizing'], 'finalizing'],
    [['settled', 'ingesting', 'finalizing'], 'finalizing'],
    [['settled', 'settled'], 'finalizing'],
    [['superseded', 'planned'], 'queued'],
    [['superseded', 'validating'], 'validating'],
    [['superseded', 'settled'], 'finalizing'],
  ])('of %j is %s', (shards, status) => {
    expect(deriveStatus(shards, false)).toBe(status);
    expect(deriveStatus(shards, true)).toBe('cancel_requested');
  });

  test('is running while failed items are to be tried again, unless a cancel was requested', () => {
    expect(deriveStatus(['settled'], false, true)).toBe('running');
    expect(deriveStatus(['settled'], true, true)).toBe('cancel_requested');
  });
});

describe('cancelOutcome', () => {
  test.each([
    [counts(0, 0, 0, 5), 'effective'],
    [counts(0, 0, 0, 0), 'effective'],
    [counts(0, 0, 2, 3), 'effective'],
    [counts(2, 0, 0, 3), 'partial'],
    [counts(0, 1, 0, 4), 'partial'],
    [counts(5, 0, 0, 0), 'too_late'],
    [counts(0, 5, 0, 0), 'too_late'],
    [counts(3, 0, 2, 0), 'too_late'],
  ])('of %j is %s', (ended, outcome) => {
    expect(cancelOutcome(ended)).toBe(outcome);
  });
});
