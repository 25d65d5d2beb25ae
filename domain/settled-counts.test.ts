import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FAILURE_CODES, type FailureCode, failure } from './failure.ts';
import { itemStateCode } from './item-state.ts';
import { outcomeWithoutRun } from './outcome.ts';
import { type EndedCount, moveCounts } from './settled-counts.ts';

type End = 'completed' | FailureCode;

function endedAs(end: End, items = 1): EndedCount {
  const state = end === 'completed' ? 'completed' : outcomeWithoutRun(failure(end, '')).status;
  return { state: itemStateCode(state), error_code: end === 'completed' ? '' : end, items };
}

test('first tries are added', () => {
  const { counts, failures } = moveCounts(
    { rate_limited: 1 },
    [endedAs('completed', 3), endedAs('rate_limited', 2)],
    [],
  );
  expect(counts).toMatchObject({ completed: 3, failed: 2, expired: 0, cancelled: 0 });
  expect(failures).toEqual({ rate_limited: 3 });
});

test('a retry takes the place of the try before it', () => {
  const { counts, failures } = moveCounts(
    { rate_limited: 2 },
    [endedAs('completed'), endedAs('batch_expired')],
    [endedAs('rate_limited', 2)],
  );
  expect(counts).toMatchObject({ completed: 1, failed: -2, expired: 1 });
  expect(failures).toEqual({ batch_expired: 1 });
});

test('however often items are tried, each counts once, by its last try', () => {
  const end = fc.constantFrom<End>('completed', ...FAILURE_CODES);
  const tries = fc.array(fc.array(end, { minLength: 1, maxLength: 5 }), { maxLength: 12 });
  fc.assert(
    fc.property(tries, (items) => {
      const counted = { completed: 0, failed: 0, expired: 0, cancelled: 0 };
      let failures = {};
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const tried = items.filter((ends) => ends.length > attempt);
        const at = (index: number) =>
          tried.flatMap((ends) => (ends[index] === undefined ? [] : [endedAs(ends[index])]));
        const move = moveCounts(failures, at(attempt), attempt === 0 ? [] : at(attempt - 1));
        ({ failures } = move);
        for (const state of ['completed', 'failed', 'expired', 'cancelled'] as const)
          counted[state] += move.counts[state];
        expect(Object.values(counted).every((count) => count >= 0)).toBe(true);
        expect(counted.completed + counted.failed + counted.expired + counted.cancelled).toBe(items.length);
      }
      const last = moveCounts(
        {},
        items.flatMap((ends) => ends.slice(-1).map((each) => endedAs(each))),
        [],
      );
      expect(counted).toEqual({
        completed: last.counts.completed,
        failed: last.counts.failed,
        expired: last.counts.expired,
        cancelled: last.counts.cancelled,
      });
      expect(failures).toEqual(last.failures);
    }),
  );
});
