import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { choosePort } from './ports.ts';

const servers: Server[] = [];

async function occupy(): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

test('gives the preferred port when it is free', async () => {
  const free = await occupy();
  await new Promise((resolve) => servers.pop()?.close(resolve));
  expect(await choosePort(free)).toBe(free);
});

test('gives another port when the preferred one is taken', async () => {
  const taken = await occupy();
  const chosen = await choosePort(taken);
  expect(chosen).not.toBe(taken);
  expect(chosen).toBeGreaterThan(0);
});

test('never gives one port to two callers', async () => {
  const first = await choosePort(0);
  const chosen = await Promise.all([choosePort(first), ...Array.from({ length: 20 }, () => choosePort(0))]);
  expect(new Set([first, ...chosen]).size).toBe(22);
});

test('rejects a host that is not of this machine', async () => {
  await expect(choosePort(0, '192.0.2.1')).rejects.toThrow(/EADDRNOTAVAIL/);
});
