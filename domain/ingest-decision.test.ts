import { expect, test } from 'vitest';
import { decideAfterIngest, type Ingested, isLastReading } from './ingest-decision.ts';

const BOUNDS = { resultGraceMs: 30_000 };

function ingested(facts: Partial<Ingested>): Ingested {
  const nothing = { rejectedLines: 0, capacityRefused: false, hasResults: false };
  return { end: 'completed', remaining: 3, reading: { no: 1, sinceEndMs: 0 }, ...nothing, ...facts };
}

test.each([
  { no: 1, sinceEndMs: 0, last: false },
  { no: 1, sinceEndMs: 3_600_000, last: false },
  { no: 2, sinceEndMs: 29_999, last: false },
  { no: 2, sinceEndMs: 30_000, last: true },
  { no: 3, sinceEndMs: 3_600_000, last: true },
])('reading $no, begun $sinceEndMs ms after the end, is the last: $last', ({ no, sinceEndMs, last }) => {
  expect(isLastReading({ no, sinceEndMs }, BOUNDS)).toBe(last);
});

test.each(['completed', 'failed', 'expired', 'cancelled'] as const)(
  'a %s batch without open items closes at once',
  (end) => {
    expect(decideAfterIngest(ingested({ end, remaining: 0 }), BOUNDS)).toEqual({
      next: 'close',
      reason: `batch_${end}`,
    });
  },
);

test.each([
  { no: 1, sinceEndMs: 10_000, delayMs: 20_000 },
  { no: 1, sinceEndMs: 90_000, delayMs: 0 },
  { no: 2, sinceEndMs: 10_000, delayMs: 20_000 },
])('absent results are read again after what is left of the grace (reading $no, $sinceEndMs ms)', (scene) => {
  const { delayMs, ...reading } = scene;
  expect(decideAfterIngest(ingested({ reading }), BOUNDS)).toEqual({ next: 'again', delayMs });
});

test('what the last reading does not find is missing', () => {
  const last = ingested({ end: 'expired', reading: { no: 2, sinceEndMs: 30_000 } });
  expect(decideAfterIngest(last, BOUNDS)).toEqual({ next: 'close', reason: 'batch_expired' });
});

test('a batch that ran nothing is sent anew without another reading', () => {
  const refused = ingested({ end: 'failed', capacityRefused: true });
  expect(decideAfterIngest(refused, BOUNDS)).toEqual({ next: 'wait_for_room' });
  expect(decideAfterIngest(ingested({ end: 'failed', rejectedLines: 1 }), BOUNDS)).toEqual({
    next: 'resubmit',
    delayMs: 0,
  });
});

test('a failed batch with results is not sent anew, for the rest of it may have run too', () => {
  const odd = ingested({ end: 'failed', rejectedLines: 1, hasResults: true, reading: { no: 2, sinceEndMs: 30_000 } });
  expect(decideAfterIngest(odd, BOUNDS)).toEqual({ next: 'close', reason: 'batch_failed' });
});
