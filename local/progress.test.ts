import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProgress } from './progress.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('writes each line once, and nothing else, where there is no terminal', () => {
  const written: string[] = [];
  const progress = createProgress({ write: (text) => written.push(text) });
  progress.say('starting Postgres');
  vi.advanceTimersByTime(5_000);
  progress.say('starting Temporal');
  progress.finish();
  expect(written).toEqual(['starting Postgres\n', 'starting Temporal\n']);
});

test('keeps a terminal line alive with its seconds and leaves it behind when the next begins', () => {
  const written: string[] = [];
  const progress = createProgress({ write: (text) => written.push(text), isTTY: true });
  progress.say('downloading Temporal');
  vi.advanceTimersByTime(3_000);
  expect(written.at(-1)).toMatch(/downloading Temporal \(3 s\)$/);
  progress.say('starting');
  progress.finish();
  const finished = written.filter((text) => text.endsWith('\n'));
  expect(finished).toEqual(['\r\x1b[Kdownloading Temporal\n', '\r\x1b[Kstarting\n']);
  const before = written.length;
  vi.advanceTimersByTime(3_000);
  expect(written.length).toBe(before);
});
