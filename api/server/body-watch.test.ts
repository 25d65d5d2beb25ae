import type { IncomingMessage, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BodyWatch } from './body-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A request whose connection is a test's to move, held back by the gateway or not. */
function watchedRequest() {
  const written: string[] = [];
  const socket = Object.assign(
    new Duplex({
      read() {},
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        done();
      },
    }),
    { bytesRead: 0 },
  );
  const incoming = Object.assign(new Duplex({ read() {} }), { socket, complete: false });
  const outgoing = { headersSent: false };
  const watch = new BodyWatch({ windowMs: 1_000, minBytes: 10 });
  watch.add(incoming as unknown as IncomingMessage, outgoing as ServerResponse);
  return { incoming, socket, outgoing, written };
}

test('an hour-long body goes on while it moves, and is cut once it does not', () => {
  const { socket, written } = watchedRequest();
  for (let second = 0; second < 3_600; second += 1) {
    socket.bytesRead += 20;
    vi.advanceTimersByTime(1_000);
  }
  expect(written).toEqual([]);
  vi.advanceTimersByTime(3_000);
  expect(written.join('')).toContain('HTTP/1.1 408');
});

test('time in which the gateway itself does not read on counts for nothing', () => {
  const { incoming, written } = watchedRequest();
  incoming.push('x'.repeat(incoming.readableHighWaterMark));
  vi.advanceTimersByTime(3_600_000);
  expect(written).toEqual([]);
  incoming.read();
  vi.advanceTimersByTime(3_000);
  expect(written.join('')).toContain('HTTP/1.1 408');
});

test('a body that came whole is watched no more', () => {
  const { incoming, written } = watchedRequest();
  incoming.complete = true;
  vi.advanceTimersByTime(10_000);
  expect(written).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('where the answer has begun, the connection is only closed', () => {
  const { outgoing, socket, written } = watchedRequest();
  outgoing.headersSent = true;
  vi.advanceTimersByTime(3_000);
  expect(written).toEqual([]);
  expect(socket.destroyed).toBe(true);
});
