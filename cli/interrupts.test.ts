import { expect, test } from 'vitest';
import { listenForInterrupts } from './interrupts.ts';
import { FakeSignals } from './testing/run-cli.ts';

test('leaves at the first Ctrl-C, and does not wait at the next', () => {
  const source = new FakeSignals();
  const interrupts = listenForInterrupts(source);
  source.emit('SIGINT');
  expect(interrupts.signal.aborted).toBe(true);
  expect(source.exits).toEqual([]);
  source.emit('SIGINT');
  expect(source.exits).toEqual([130]);
});

test('asks first where it is told to, and leaves at the second', () => {
  const source = new FakeSignals();
  const interrupts = listenForInterrupts(source);
  let asked = 0;
  interrupts.askFirst(() => {
    asked += 1;
  });
  source.emit('SIGINT');
  expect([asked, interrupts.signal.aborted]).toEqual([1, false]);
  source.emit('SIGINT');
  expect([asked, interrupts.signal.aborted]).toEqual([1, true]);
});

test('SIGTERM never asks', () => {
  const source = new FakeSignals();
  const interrupts = listenForInterrupts(source);
  interrupts.askFirst(() => undefined);
  source.emit('SIGTERM');
  expect(interrupts.signal.aborted).toBe(true);
  interrupts.stopListening();
  expect(source.eventNames()).toEqual([]);
});
