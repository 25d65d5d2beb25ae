import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { choosePort } from './ports.ts';
import { httpReady, listens, waitUntil } from './wait-until.ts';

test('asks until the answer is yes, past checks that throw', async () => {
  const answers = [() => false, () => Promise.reject(new Error('refused')), () => true];
  let asked = 0;
  await waitUntil(async () => answers[asked++]?.() ?? false, AbortSignal.timeout(5_000), 1);
  expect(asked).toBe(3);
});

test('rejects with the reason of the signal', async () => {
  const giveUp = new AbortController();
  const waiting = waitUntil(async () => false, giveUp.signal, 10_000);
  giveUp.abort(new Error('no longer wanted'));
  await expect(waiting).rejects.toThrow('no longer wanted');
});

test('a server is ready once it answers 200', async () => {
  const port = await choosePort(0);
  expect(await listens(port)).toBe(false);
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.statusCode = asked < 3 ? 503 : 200;
    response.end();
  });
  const ready = httpReady(`http://127.0.0.1:${port}/readyz`)(AbortSignal.timeout(5_000));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await ready;
  expect(asked).toBe(3);
  expect(await listens(port)).toBe(true);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
