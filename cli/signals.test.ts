import { expect, test } from 'vitest';
import { singleSignals, stoppable } from './signals.ts';
import { FakeSignals } from './testing/run-cli.ts';

test('one Ctrl-C that arrives twice is heard once, a second press is heard', () => {
  const source = new FakeSignals();
  let nowMs = 1000;
  const signals = singleSignals(source, () => nowMs);
  let heard = 0;
  const listener = () => {
    heard += 1;
  };
  signals.on('SIGINT', listener);
  source.emit('SIGINT');
  nowMs += 40;
  source.emit('SIGINT');
  expect(heard).toBe(1);
  nowMs += 600;
  source.emit('SIGINT');
  expect(heard).toBe(2);
});

test('every listener hears a signal, and none after it left', () => {
  const source = new FakeSignals();
  const signals = singleSignals(source, () => 0);
  const heard: string[] = [];
  const first = () => heard.push('first');
  const second = () => heard.push('second');
  signals.on('SIGINT', first);
  signals.on('SIGINT', second);
  signals.on('SIGTERM', first);
  source.emit('SIGINT');
  expect(heard).toEqual(['first', 'second']);
  signals.off('SIGINT', first);
  signals.off('SIGINT', second);
  signals.off('SIGTERM', first);
  expect(source.eventNames()).toEqual([]);
});

test('other events are all heard', () => {
  const source = new FakeSignals();
  const signals = singleSignals(source, () => 0);
  let errors = 0;
  signals.on('uncaughtException', () => {
    errors += 1;
  });
  source.emit('uncaughtException');
  source.emit('uncaughtException');
  expect(errors).toBe(2);
});

test('a stop of our own is heard as SIGTERM is, until the listener left', () => {
  const source = stoppable(new FakeSignals());
  let stops = 0;
  const listener = () => {
    stops += 1;
  };
  source.on('SIGINT', listener);
  source.on('SIGTERM', listener);
  source.stop();
  expect(stops).toBe(1);
  source.off('SIGTERM', listener);
  source.stop();
  expect(stops).toBe(1);
});
