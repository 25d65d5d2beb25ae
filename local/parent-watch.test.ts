import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exitWhenParentDies } from './parent-watch.ts';

class FakeProcess extends EventEmitter {
  readonly pid = 4711;
  readonly channel: { unref(): void } | undefined;
  readonly killed: string[] = [];
  constructor(hasChannel: boolean) {
    super();
    this.channel = hasChannel ? { unref: () => undefined } : undefined;
  }
  kill(pid: number, signal: string): void {
    this.killed.push(`${pid} ${signal}`);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('asks itself to end when the channel closes, and insists when it does not', () => {
  const self = new FakeProcess(true);
  exitWhenParentDies(self, 1_000);
  expect(self.killed).toEqual([]);
  self.emit('disconnect');
  expect(self.killed).toEqual(['4711 SIGTERM']);
  vi.advanceTimersByTime(1_000);
  expect(self.killed).toEqual(['4711 SIGTERM', '4711 SIGKILL']);
});

test('listens to nothing in a process started without a channel', () => {
  const self = new FakeProcess(false);
  exitWhenParentDies(self);
  expect(self.listenerCount('disconnect')).toBe(0);
});
