import { expect, test } from 'vitest';
import { watchIdle } from './idle-watchdog.ts';

function bodyOf(
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>,
  cancel: () => void = () => {},
): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  return text;
}

const never = new AbortController().signal;

test('passes every chunk on', async () => {
  const parts = ['a', 'b', 'c'];
  const body = bodyOf((controller) => {
    const part = parts.shift();
    if (part === undefined) controller.close();
    else controller.enqueue(Buffer.from(part));
  });
  expect(await readAll(watchIdle(body, { idleTimeoutMs: 1000, signal: never }))).toBe('abc');
});

test('throws timed_out and lets go of the body when no chunk comes', async () => {
  let isCancelled = false;
  const body = bodyOf(
    () => new Promise(() => {}),
    () => {
      isCancelled = true;
    },
  );
  const reading = readAll(watchIdle(body, { idleTimeoutMs: 10, signal: never }));
  await expect(reading).rejects.toMatchObject({ name: 'ProviderError', code: 'timed_out', isRetryable: true });
  expect(isCancelled).toBe(true);
});

test('does not count the time its consumer takes', async () => {
  let sent = 0;
  const body = bodyOf((controller) => {
    sent += 1;
    if (sent > 2) controller.close();
    else controller.enqueue(Buffer.from('x'));
  });
  let read = 0;
  for await (const _ of watchIdle(body, { idleTimeoutMs: 5, signal: never })) {
    read += 1;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  expect(read).toBe(2);
});

test('throws aborted when the signal fires while it waits', async () => {
  const controller = new AbortController();
  const body = bodyOf(() => {
    controller.abort();
    return new Promise(() => {});
  });
  const reading = readAll(watchIdle(body, { idleTimeoutMs: 60_000, signal: controller.signal }));
  await expect(reading).rejects.toMatchObject({ code: 'aborted' });
});

test('throws aborted at once for a signal that has fired already', async () => {
  const body = bodyOf(() => new Promise(() => {}));
  const reading = readAll(watchIdle(body, { idleTimeoutMs: 60_000, signal: AbortSignal.abort() }));
  await expect(reading).rejects.toMatchObject({ code: 'aborted' });
});

test('throws connection_lost when the body breaks', async () => {
  const body = bodyOf((controller) => controller.error(new TypeError('terminated')));
  const reading = readAll(watchIdle(body, { idleTimeoutMs: 1000, signal: never }));
  await expect(reading).rejects.toMatchObject({ code: 'connection_lost', isRetryable: true });
});

test('lets go of the body when its consumer stops early', async () => {
  let isCancelled = false;
  const body = bodyOf(
    (controller) => controller.enqueue(Buffer.from('x')),
    () => {
      isCancelled = true;
    },
  );
  for await (const _ of watchIdle(body, { idleTimeoutMs: 1000, signal: never })) break;
  expect(isCancelled).toBe(true);
});
