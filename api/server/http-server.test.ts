import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Hono } from 'hono';
import { afterEach, expect, test } from 'vitest';
import { bodyStream } from '../body.ts';
import type { ApiEnv } from '../env.ts';
import { SECURITY_HEADERS } from '../security-headers.ts';
import { type ServerSettings, serveApi } from './http-server.ts';

const SETTINGS: ServerSettings = {
  host: '127.0.0.1',
  port: 0,
  maxHeaderBytes: 4_096,
  headersTimeoutMs: 300,
  maxConnections: 50,
  bodyPace: { windowMs: 400, minBytes: 100 },
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

interface Served {
  readonly port: number;
  /** What the app saw of each body: its bytes, or that it broke off. */
  readonly seen: (number | 'broken off')[];
}

async function serveEcho(settings: Partial<ServerSettings> = {}): Promise<Served> {
  const seen: Served['seen'] = [];
  const app = new Hono<ApiEnv>();
  app.post('/', async (c) => {
    let bytes = 0;
    try {
      for await (const chunk of bodyStream(c)) bytes += chunk.length;
      seen.push(bytes);
    } catch {
      seen.push('broken off');
    }
    return c.json({ bytes });
  });
  const { promise, resolve } = Promise.withResolvers<AddressInfo>();
  servers.push(serveApi({ fetch: app.fetch }, { ...SETTINGS, ...settings }, resolve));
  return { port: (await promise).port, seen };
}

interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Lets `talk` write to a new connection, and reads until the server closes it. */
async function converse(port: number, talk: (socket: Socket) => void): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {});
  socket.once('close', () => resolve());
  socket.once('connect', () => talk(socket));
  await promise;
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(statusLine.split(' ')[1]), headers: new Map(headers), body };
}

function expectRefused(answer: RawAnswer, status: number, error: string): void {
  expect(answer.status).toBe(status);
  const envelope = JSON.parse(answer.body);
  expect(envelope).toEqual({ error, message: expect.any(String), request_id: answer.headers.get('x-request-id') });
  expect(answer.body).not.toMatch(/HPE_|node:|\.ts|Error/);
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    expect(answer.headers.get(name.toLowerCase())).toBe(value);
  expect(answer.headers.has('server')).toBe(false);
}

test.each([
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(8_000)}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
  ['a URL that is too long', `GET /${'x'.repeat(8_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'headers_too_large'],
  ['another protocol', 'GET / SPDY/9\r\n\r\n', 400, 'invalid_request'],
  ['a method that is none', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
  ['a wish for a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405, 'method_not_allowed'],
  [
    'two lengths of one body',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
    'invalid_request',
  ],
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, null],
])('%s is refused in the envelope', async (_, text, status, error) => {
  const { port } = await serveEcho();
  const answer = await converse(port, (socket) => socket.write(text));
  if (error === null) expect(answer.status).toBe(status);
  else expectRefused(answer, status, error);
});

test('headers that trickle are cut off', async () => {
  const { port } = await serveEcho();
  const answer = await converse(port, (socket) => socket.write('POST / HTTP/1.1\r\nHost: a\r\nX-Slow: '));
  expectRefused(answer, 408, 'request_timeout');
});

test('a body that stands still is cut off, and nothing of it stays', async () => {
  const { port, seen } = await serveEcho();
  const answer = await converse(port, (socket) => {
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n${'x'.repeat(500)}`);
  });
  expectRefused(answer, 408, 'request_timeout');
  expect(JSON.parse(answer.body).message).toContain('at least 100 bytes in 0.4 seconds');
  await expect.poll(() => seen).toEqual(['broken off']);
});

test('a body that drips too slowly is cut off', async () => {
  const { port } = await serveEcho();
  let timer: NodeJS.Timeout | undefined;
  const answer = await converse(port, (socket) => {
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n');
    timer = setInterval(() => socket.write('x'), 20);
  });
  clearInterval(timer);
  expectRefused(answer, 408, 'request_timeout');
});

test('a body that takes many windows and moves in each is read to its end', async () => {
  const { port, seen } = await serveEcho({ bodyPace: { windowMs: 100, minBytes: 10 } });
  const answer = await converse(port, (socket) => {
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2000\r\n\r\n');
    let left = 40;
    const timer = setInterval(() => {
      socket.write('x'.repeat(50));
      left -= 1;
      if (left === 0) clearInterval(timer);
    }, 20);
  });
  expect(answer).toMatchObject({ status: 200, body: '{"bytes":2000}' });
  expect(seen).toEqual([2_000]);
});

test('a connection beyond the most is closed, and those within are served', async () => {
  const { port } = await serveEcho({ maxConnections: 1, headersTimeoutMs: 60_000 });
  const first = connect(port, '127.0.0.1');
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  first.once('connect', () => resolve());
  await opened;
  const text = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx';
  expect((await converse(port, (socket) => socket.write(text))).status).toBeNaN();
  const { promise: answered, resolve: hear } = Promise.withResolvers<string>();
  first.once('data', (chunk) => hear(String(chunk)));
  first.write(text);
  expect(await answered).toContain('HTTP/1.1 200');
  first.destroy();
});
