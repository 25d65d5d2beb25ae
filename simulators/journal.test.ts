import { expect, test } from 'vitest';
import { createClock } from './clock.ts';
import { createJournal } from './journal.ts';

const call = { provider: 'openai', route: 'files.list', method: 'GET', path: '/v1/files' };

test('shows an entry as open until it ends, and keeps the first end', () => {
  const journal = createJournal(createClock());
  const entry = journal.open(call);
  expect(journal.list()).toMatchObject([{ seq: 1, status: null, ended_at: null, facts: {} }]);
  journal.end(entry, 200);
  const [ended] = journal.list().map((each) => ({ ...each }));
  journal.end(entry);
  expect(journal.list()).toEqual([{ ...ended, status: 200, ended_at: expect.any(Number) }]);
});

test('forgets the oldest entries beyond its capacity', () => {
  const journal = createJournal(createClock(), 10);
  for (let index = 0; index < 100; index += 1) journal.open(call);
  const kept = journal.list();
  expect(kept.length).toBeGreaterThanOrEqual(10);
  expect(kept.length).toBeLessThanOrEqual(11);
  expect(kept.at(-1)?.seq).toBe(100);
});
