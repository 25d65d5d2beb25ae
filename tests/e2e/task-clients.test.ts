import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { choosePort } from '../../local/ports.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples', 'tasks');

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Post {
  readonly idempotencyKey: string;
  readonly prompt: string;
}

/** Between a client and the gateway: what a network and a busy gateway do to calls. */
interface Road {
  readonly url: string;
  readonly posts: Post[];
  /** Lets the post go on that is held up. */
  readonly letThrough: () => void;
  close(): Promise<void>;
}

const DEAD_END = 'http://127.0.0.1:9/nobody';

/**
 * The first post is told to come back, and the second gets no answer although it was done. The fourth, of the second task, waits
 * until it is let through, and then its webhook leads to nobody.
 */
async function openRoad(): Promise<Road> {
  const posts: Post[] = [];
  const { promise: open, resolve: letThrough } = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    let bytes = await buffer(request);
    if (request.method === 'POST') {
      const body = JSON.parse(bytes.toString());
      posts.push({ idempotencyKey: String(request.headers['idempotency-key']), prompt: body.payload.prompt });
      const number = posts.length;
      if (number === 1) {
        response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' });
        return response.end('{"error":{"code":"CONCURRENCY_LIMIT","message":"Later."}}');
      }
      if (number === 2) {
        await forward(request, bytes);
        return request.socket.destroy();
      }
      if (number >= 4) {
        await open;
        bytes = Buffer.from(JSON.stringify({ ...body, webhookUrl: DEAD_END }));
      }
    }
    const answer = await forward(request, bytes);
    return response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(Buffer.from(await answer.arrayBuffer()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    letThrough,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function forward({ url = '', method = 'GET', headers }: IncomingMessage, bytes: Buffer): Promise<Response> {
  const names = ['authorization', 'content-type', 'idempotency-key'];
  const given = names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]));
  const body = method === 'GET' ? {} : { body: new Uint8Array(bytes) };
  return fetch(new URL(url, gateway.url), { method, headers: Object.fromEntries(given), ...body });
}

interface RunningClient {
  readonly hook: string;
  readonly lines: () => string[];
  readonly ended: Promise<unknown>;
  readonly process: ChildProcess;
}

async function runClient(command: string, file: string, env: Record<string, string>): Promise<RunningClient> {
  const port = await choosePort(0);
  const hook = `http://127.0.0.1:${port}/hook`;
  const child = spawn(command, [join(EXAMPLES, file), 'work-7', '[[sim:text=Paris]]', 'Which river runs through {}?'], {
    env: { PATH: process.env['PATH'], WEBHOOK_PORT: String(port), WEBHOOK_URL: hook, POLL_SECONDS: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code);
  return { hook, lines: () => text.trimEnd().split('\n'), ended, process: child };
}

/** What came to a client once, as anybody might send it: signed with another secret, and with the right one long ago. */
async function sendForged(hook: string, secret: string): Promise<number[]> {
  const body = JSON.stringify({
    type: 'task.failed',
    timestamp: new Date().toISOString(),
    data: { id: 'task_forged' },
  });
  const send = async (key: string, at: Date): Promise<number> => {
    const headers = {
      'webhook-id': 'event_forged',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(key).sign('event_forged', at, body),
    };
    return (await fetch(hook, { method: 'POST', headers, body })).status;
  };
  const otherSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  return [await send(otherSecret, new Date()), await send(secret, new Date(Date.now() - 3_600_000))];
}

/** A call that is broken off half way, which anybody can make. */
async function breakOff(hook: string): Promise<void> {
  const { hostname, port } = new URL(hook);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write('POST /hook HTTP/1.1\r\nhost: hook\r\ncontent-length: 100\r\n\r\nhalf of it');
  socket.end();
  socket.resume();
  await once(socket, 'close');
}

async function newSecret(caller: Caller): Promise<string> {
  return (await caller.call<{ secret: string }>('POST', '/v1/webhooks/job-secret/rotate', {})).secret;
}

test.each([
  ['TypeScript', process.execPath, 'client.ts'],
  ['Python', 'python3', 'client.py'],
])(
  'the example client in %s: told by webhook, once each, calls repeated with their key, what no webhook told of found by polling',
  async (_language, command, file) => {
    const { tenantId, caller } = await gateway.newTenant();
    const secret = await newSecret(caller);
    const road = await openRoad();
    const env = { BATCHGATE_URL: road.url, BATCHGATE_KEY: caller.key, WEBHOOK_SECRET: secret };
    const client = await runClient(command, file, env);
    try {
      // Its first post is refused, its second lost on the way back, and with one key all of them are one task.
      await eventually(() => road.posts.length === 4, { timeoutMs: 60_000 });
      expect(road.posts.slice(0, 3)).toEqual(
        Array(3).fill({ idempotencyKey: 'work-7/first', prompt: '[[sim:text=Paris]]' }),
      );
      const [told] = client.lines();
      expect(told).toMatch(/^task_\w+ COMPLETED, told by webhook$/);
      const taskId = told?.split(' ')[0];
      const { rows } = await gateway.database.db.pool.query('SELECT task_id FROM async_tasks WHERE tenant_id = $1', [
        tenantId,
      ]);
      expect(rows).toHaveLength(1);

      // The same event once more is answered, and no news.
      await eventually(
        async () => (await caller.fetch(`/v1/async/task/${taskId}/webhook/replay`, { method: 'POST' })).status === 202,
      );
      await eventually(() => client.lines().some((line) => /^\w+ came again$/.test(line)));
      await breakOff(client.hook);
      expect(await sendForged(client.hook, secret)).toEqual([400, 400]);

      // The second task was posted with what the first replied, and is found although nothing told of it.
      expect(road.posts.at(-1)).toEqual({ idempotencyKey: 'work-7/second', prompt: 'Which river runs through Paris?' });
      road.letThrough();
      expect(await client.ended).toBe(0);
      const lines = client.lines();
      const wrong = 'a call with a wrong signature was refused';
      // Half a call is one of them to a server that hands on what came.
      expect(lines.filter((line) => line === wrong).length).toBeGreaterThanOrEqual(2);
      expect(lines.slice(2).filter((line) => line !== wrong)).toEqual([
        expect.stringMatching(/^task_\w+ COMPLETED, found by polling$/),
        expect.any(String),
      ]);
      expect(lines.filter((line) => line.includes(String(taskId)))).toHaveLength(1);
    } finally {
      client.process.kill();
      await road.close();
    }
  },
);
