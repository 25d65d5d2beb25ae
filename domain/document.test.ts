import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  batchState,
  DOCUMENT_STATES,
  type DocumentCounts,
  type DocumentState,
  hasDocumentEnded,
  mayDocumentMove,
} from './document.ts';

const anyState = fc.constantFrom(...DOCUMENT_STATES);

function countsOf(states: readonly DocumentState[]): DocumentCounts {
  const count = (state: DocumentState) => states.filter((each) => each === state).length;
  return {
    queued: count('queued'),
    processing: count('processing'),
    succeeded: count('succeeded'),
    failed: count('failed'),
    canceled: count('canceled'),
  };
}

describe('a document', () => {
  test('has one of exactly five states', () => {
    expect(DOCUMENT_STATES).toEqual(['queued', 'processing', 'succeeded', 'failed', 'canceled']);
  });

  test('moves forwards alone, but for a new run of what failed', () => {
    const moves = DOCUMENT_STATES.flatMap((from) =>
      DOCUMENT_STATES.filter((to) => mayDocumentMove(from, to)).map((to) => `${from} → ${to}`),
    );
    expect(moves).toEqual([
      'queued → processing',
      'queued → failed',
      'queued → canceled',
      'processing → succeeded',
      'processing → failed',
      'failed → queued',
    ]);
  });

  test('is canceled only before processing began, and leaves no other end', () => {
    fc.assert(
      fc.property(fc.array(anyState, { maxLength: 30 }), (wished) => {
        let state: DocumentState = 'queued';
        let wasProcessed = false;
        for (const to of wished) {
          if (!mayDocumentMove(state, to)) continue;
          if (state === 'succeeded' || state === 'canceled') throw new Error(`${state} was left`);
          if (to === 'canceled' && state !== 'queued') throw new Error('canceled while it was processed');
          if (to === 'succeeded') expect(wasProcessed).toBe(true);
          wasProcessed ||= to === 'processing';
          state = to;
        }
      }),
    );
  });

  test.each(DOCUMENT_STATES)('%s has ended where nothing but a new run leaves it', (state) => {
    const leaves = DOCUMENT_STATES.filter((to) => mayDocumentMove(state, to));
    expect(hasDocumentEnded(state)).toBe(leaves.every((to) => to === 'queued'));
  });
});

describe('a batch', () => {
  test.each([
    [['queued'], 'queued'],
    [['queued', 'queued'], 'queued'],
    [['processing'], 'processing'],
    [['queued', 'processing'], 'processing'],
    [['succeeded', 'processing'], 'processing'],
    [['queued', 'succeeded'], 'processing'],
    [['queued', 'canceled'], 'processing'],
    [['succeeded', 'failed', 'canceled'], 'succeeded'],
    [['failed', 'canceled'], 'failed'],
    [['canceled', 'canceled'], 'canceled'],
  ] as const)('of %s is %s', (states, expected) => {
    expect(batchState(countsOf(states))).toBe(expected);
  });

  test('has ended exactly where all of its documents have, whatever their order', () => {
    fc.assert(
      fc.property(fc.array(anyState, { minLength: 1, maxLength: 20 }), (states) => {
        const state = batchState(countsOf(states));
        expect(hasDocumentEnded(state)).toBe(states.every(hasDocumentEnded));
        expect(state === 'queued').toBe(states.every((each) => each === 'queued'));
        if (hasDocumentEnded(state)) expect(states).toContain(state);
        expect(batchState(countsOf([...states].reverse()))).toBe(state);
        expect(batchState(countsOf([...states, 'processing']))).toBe('processing');
      }),
    );
  });

  test('of one document is what that is', () => {
    for (const state of DOCUMENT_STATES) expect(batchState(countsOf([state]))).toBe(state);
  });

  test('without documents has no state', () => {
    expect(() => batchState(countsOf([]))).toThrow(RangeError);
  });
});
