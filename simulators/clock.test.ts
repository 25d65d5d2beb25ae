import { expect, test, vi } from 'vitest';
import { createClock } from './clock.ts';

const DAY_MS = 86_400_000;

test('runs with real time until it is moved', () => {
  const clock = createClock();
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(50);
  clock.advance(DAY_MS);
  expect(Math.abs(clock.now() - Date.now() - DAY_MS)).toBeLessThan(50);
});

test('runs what waits for a time once that time is passed over, and nothing that waits for later', async () => {
  const clock = createClock();
  const ran: string[] = [];
  const done = Promise.withResolvers<void>();
  clock.at(clock.now() + DAY_MS, () => {
    ran.push('day');
    done.resolve();
  });
  clock.at(clock.now() + 60 * DAY_MS, () => ran.push('two months'));
  clock.advance(DAY_MS);
  await done.promise;
  expect(ran).toEqual(['day']);
  clock.stop();
});

test('runs what waits for a time by itself', async () => {
  const clock = createClock();
  const start = clock.now();
  await clock.sleep(20);
  expect(clock.now() - start).toBeGreaterThanOrEqual(20);
});

test('does not run what was called off', async () => {
  const clock = createClock();
  const run = vi.fn();
  const later = Promise.withResolvers<void>();
  clock.at(clock.now() + 1_000, run)();
  clock.at(clock.now() + 1_500, later.resolve);
  clock.advance(2_000);
  await later.promise;
  expect(run).not.toHaveBeenCalled();
});

test('goes at another speed from where it stands', async () => {
  const clock = createClock();
  const start = clock.now();
  clock.setSpeed(1_000_000);
  await clock.sleep(DAY_MS);
  expect(clock.now() - start).toBeGreaterThanOrEqual(DAY_MS);
  clock.stop();
});

test('goes on from its saved state after a restart', () => {
  const saved = vi.fn();
  createClock(undefined, saved).advance(DAY_MS);
  const restarted = createClock(saved.mock.lastCall?.[0]);
  expect(Math.abs(restarted.now() - Date.now() - DAY_MS)).toBeLessThan(50);
  restarted.reset();
  expect(Math.abs(restarted.now() - Date.now())).toBeLessThan(50);
});
