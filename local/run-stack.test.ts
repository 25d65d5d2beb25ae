import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { runStack } from './run-stack.ts';
import type { Stack } from './stack-options.ts';

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

function setUp(start?: (signal: AbortSignal) => Promise<Stack>) {
  const source = new FakeProcess();
  const said: string[] = [];
  let stops = 0;
  const ready = Promise.withResolvers<void>();
  const stop = async () => {
    stops += 1;
  };
  const stack = { stop } as unknown as Stack;
  const code = runStack({
    start: start ?? (async () => stack),
    onReady: () => ready.resolve(),
    onProgress: (line) => said.push(line),
    source,
  });
  return { source, said, code, ready: ready.promise, stops: () => stops };
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('%s stops the stack and is a good end', async (signal) => {
  const { source, code, ready, stops } = setUp();
  await ready;
  source.emit(signal);
  expect(await code).toBe(0);
  expect(stops()).toBe(1);
  expect(source.eventNames()).toEqual([]);
});

test.each(['uncaughtException', 'unhandledRejection'])('an %s stops the stack and is a bad end', async (event) => {
  const { source, code, ready, stops, said } = setUp();
  await ready;
  source.emit(event, new Error('lost'));
  expect(await code).toBe(1);
  expect(stops()).toBe(1);
  expect(said[0]).toMatch(/^unexpected error: Error: lost/);
});

test('a signal during the start calls it off', async () => {
  const { source, code } = setUp(
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  source.emit('SIGINT');
  expect(await code).toBe(0);
});

test('a second signal does not wait', async () => {
  const { source, code, ready } = setUp();
  await ready;
  source.emit('SIGINT');
  source.emit('SIGINT');
  expect(source.exits).toEqual([130]);
  await code;
});

test('rejects when the stack does not start', async () => {
  const { code, source } = setUp(async () => {
    throw new Error('Postgres did not start');
  });
  await expect(code).rejects.toThrow('Postgres did not start');
  expect(source.eventNames()).toEqual([]);
});
