import type { lookup } from 'node:dns';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { guardedFetch } from './guarded-fetch.ts';
import { guardedRequest } from './guarded-request.ts';
import { findUrlFault } from './url-fault.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server on the loopback, and how often it was connected to and asked. */
async function serve(answer: Parameters<typeof createServer>[1]) {
  const seen = { requests: 0, connections: 0 };
  const server = createServer((request, response) => {
    seen.requests += 1;
    if (typeof answer === 'function') answer(request, response);
  });
  servers.push(server);
  server.on('connection', () => {
    seen.connections += 1;
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return { port: (server.address() as AddressInfo).port, seen };
}

function ask(url: string, more: Partial<Parameters<typeof guardedFetch>[0]> = {}) {
  const signal = AbortSignal.timeout(10_000);
  return guardedFetch({ url, allowedHosts: new Set(), maxBytes: 1_000, idleMs: 5_000, signal, ...more });
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** A resolver that answers with these addresses. */
function resolving(addresses: string[]): typeof lookup {
  return ((_name: string, _options: unknown, callback: (error: null, addresses: unknown) => void) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as typeof lookup;
}

const ADDRESSES = [
  ['93.184.216.34', true],
  ['2606:2800:220:1::1', true],
  ['127.0.0.1', false],
  ['10.1.2.3', false],
  ['172.31.255.255', false],
  ['192.168.0.1', false],
  ['169.254.169.254', false],
  ['100.64.0.1', false],
  ['192.0.0.8', false],
  ['192.0.2.1', false],
  ['192.88.99.1', false],
  ['198.18.0.1', false],
  ['198.51.100.1', false],
  ['203.0.113.1', false],
  ['0.0.0.0', false],
  ['0.1.2.3', false],
  ['224.0.0.1', false],
  ['240.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::127.0.0.1', false],
  ['::ffff:93.184.216.34', false],
  ['::ffff:127.0.0.1', false],
  ['fe80::1', false],
  ['fec0::1', false],
  ['fc00::1', false],
  ['fd00:ec2::254', false],
  ['ff02::1', false],
  ['64:ff9b::7f00:1', false],
  ['64:ff9b:1::7f00:1', false],
  ['100::1', false],
  ['100:0:0:1::1', false],
  ['2001::1', false],
  ['2001:db8::1', false],
  ['2002:7f00:1::', false],
  ['3fff::1', false],
  ['4000::1', false],
  ['8000::1', false],
] as const;

test.each(ADDRESSES)('at registration %s is one of the public Internet: %s', async (address, expected) => {
  const literal = `https://${address.includes(':') ? `[${address}]` : address}/`;
  const fault = expected ? null : 'must not lead to an address that is not public';
  expect(await findUrlFault(literal, new Set())).toBe(fault);
  expect(await findUrlFault('https://items.example/', new Set(), resolving([address]))).toBe(fault);
});

test.each(ADDRESSES.filter(([, isPublic]) => !isPublic))(
  '%s is not connected to, as itself or by a name',
  async (address) => {
    const literal = `https://${address.includes(':') ? `[${address}]` : address}:1/`;
    await expect(ask(literal)).rejects.toMatchObject({ fault: 'refused_address' });
    const lookup = resolving([address]);
    await expect(ask('https://items.example:1/', { lookup })).rejects.toMatchObject({ fault: 'refused_address' });
  },
);

test('looking at a URL connects to nobody', async () => {
  const { port, seen } = await serve((_request, response) => response.end());
  expect(await findUrlFault(`https://127.0.0.1:${port}/`, new Set())).toBe(
    'must not lead to an address that is not public',
  );
  expect(await findUrlFault(`https://localhost:${port}/`, new Set())).toBe(
    'must not lead to an address that is not public',
  );
  expect(seen.connections).toBe(0);
});

test.each([
  ['http://items.example/', 'must be an https URL'],
  ['ftp://items.example/', 'must be an https URL'],
  ['file:///etc/passwd', 'must be an https URL'],
  ['gopher://items.example/', 'must be an https URL'],
  ['https://user:word@items.example/', 'must not hold a user name or password'],
  ['https://user@items.example/', 'must not hold a user name or password'],
  ['nonsense', 'must be a URL'],
])('%s is refused: it %s', async (url, fault) => {
  expect(await findUrlFault(url, new Set())).toBe(fault);
  await expect(ask(url)).rejects.toMatchObject({ fault: 'refused_url' });
});

test('a host that is allowed by name may have any address, and be asked without TLS', async () => {
  expect(await findUrlFault('http://localhost:8080/', new Set(['localhost']))).toBeNull();
  expect(await findUrlFault('https://127.0.0.1/', new Set(['127.0.0.1']))).toBeNull();
  expect(await findUrlFault('http://user@localhost/', new Set(['localhost']))).not.toBeNull();
});

test('a name that does not resolve is judged when it is connected to', async () => {
  const failing = ((_name: string, _options: unknown, callback: (error: Error) => void) => {
    callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));
  }) as unknown as typeof lookup;
  expect(await findUrlFault('https://items.example/', new Set(), failing)).toBeNull();
  await expect(ask('https://items.example/', { lookup: failing })).rejects.toMatchObject({ fault: 'unreachable' });
});

test('a body is posted as it is, and the answer to it is handed over unread', async () => {
  const received = Promise.withResolvers<string>();
  const { port } = await serve(async (request, response) => {
    received.resolve(`${request.method} ${await textOf(request)}`);
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
  });
  const response = await guardedRequest({
    url: `http://127.0.0.1:${port}/hook`,
    allowedHosts: new Set(['127.0.0.1']),
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"ü":1.0}',
    idleMs: 5_000,
    signal: AbortSignal.timeout(10_000),
  });
  response.destroy();
  expect(response.statusCode).toBe(302);
  expect(await received.promise).toBe('POST {"ü":1.0}');
});

test('a server without a certificate to be trusted is told apart', async () => {
  const { port } = await serve((_request, response) => response.end());
  await expect(ask(`https://127.0.0.1:${port}/`, { allowedHosts: new Set(['127.0.0.1']) })).rejects.toMatchObject({
    fault: 'tls_failed',
  });
});

test.each([
  'https://127.0.0.1:1/items',
  'https://[::1]:1/items',
  'https://[::ffff:127.0.0.1]:1/items',
  'https://2130706433:1/items',
  'https://169.254.169.254/latest/meta-data',
])('%s is refused without a connection', async (url) => {
  await expect(ask(url)).rejects.toMatchObject({ fault: 'refused_address' });
});

test('a name that leads to a private address is refused, also when it has a public one too', async () => {
  for (const addresses of [['127.0.0.1'], ['93.184.216.34', '10.0.0.1'], ['fe80::1']]) {
    const lookup = resolving(addresses);
    await expect(ask('https://items.example/list', { lookup })).rejects.toMatchObject({ fault: 'refused_address' });
  }
});

test('a name that has come to mean a private address is not connected to', async () => {
  const { port, seen } = await serve((_request, response) => response.end());
  const lookup = resolving(['127.0.0.1']);
  await expect(ask(`https://items.example:${port}/`, { lookup })).rejects.toMatchObject({ fault: 'refused_address' });
  await expect(ask(`https://127.0.0.1:${port}/`)).rejects.toMatchObject({ fault: 'refused_address' });
  expect(seen.connections).toBe(0);
});

test('plain http is for hosts that are allowed by name', async () => {
  const { port } = await serve((_request, response) => response.end('{"a":1}\n'));
  const url = `http://localhost:${port}/items`;
  await expect(ask(url)).rejects.toMatchObject({ fault: 'refused_url' });
  const { body } = await ask(url, { allowedHosts: new Set(['localhost']), lookup: resolving(['127.0.0.1']) });
  expect(await textOf(body)).toBe('{"a":1}\n');
  await expect(ask(`ftp://localhost:${port}/`, { allowedHosts: new Set(['localhost']) })).rejects.toMatchObject({
    fault: 'refused_url',
  });
});

test('no redirect is followed, and any status but 200 gives nothing', async () => {
  const { port, seen } = await serve((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/items' });
    else response.writeHead(204);
    response.end();
  });
  const allowedHosts = new Set(['127.0.0.1']);
  for (const path of ['moved', 'none'])
    await expect(ask(`http://127.0.0.1:${port}/${path}`, { allowedHosts })).rejects.toMatchObject({
      fault: 'unexpected_status',
    });
  expect(seen.requests).toBe(2);
});

test('a body is cut at its limit, and one that stands still in time', async () => {
  const { port } = await serve((request, response) => {
    if (request.url === '/large') response.end('x'.repeat(1_001));
    else response.write('x');
  });
  const allowedHosts = new Set(['127.0.0.1']);
  const large = await ask(`http://127.0.0.1:${port}/large`, { allowedHosts });
  await expect(textOf(large.body)).rejects.toMatchObject({ fault: 'too_large' });
  const still = await ask(`http://127.0.0.1:${port}/still`, { allowedHosts, idleMs: 50 });
  await expect(textOf(still.body)).rejects.toMatchObject({ fault: 'unreachable' });
});
