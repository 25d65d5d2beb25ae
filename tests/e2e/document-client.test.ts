import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFolderStore } from '../../artifacts/folder-store.ts';
import { choosePort } from '../../local/ports.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';

const CLIENT = join(import.meta.dirname, '..', '..', 'examples', 'documents', 'client.ts');
const BATCH = 'Invoices 2026/08';
const WEBHOOK = `/v1/batches/${encodeURIComponent(BATCH)}/webhook`;
const COLUMNS = [
  { name: 'vendor', required: true },
  { name: 'total', type: 'currency' },
];

let gateway: TestGateway;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchgate-document-client-'));
  gateway = await startGateway({ artifacts: createFolderStore(join(folder, 'store')) });
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Between a client and the gateway: what a network and a busy gateway do to calls. */
interface Road {
  readonly url: string;
  /** The path and the key of every POST. */
  readonly posts: (readonly [path: string, key: string])[];
  /** Results are held up until then. */
  readonly letThrough: () => void;
  close(): Promise<void>;
}

/** The first upload is told to come back; the next and the first POST process get no answer although they were done. */
async function openRoad(): Promise<Road> {
  const posts: [string, string][] = [];
  const { promise: open, resolve: letThrough } = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request;
    const bytes = await buffer(request);
    const path = url.split('?')[0] ?? '';
    if (method === 'POST') posts.push([path, String(headers['idempotency-key'])]);
    const ofPath = posts.filter(([posted]) => posted === path).length;
    if (method === 'POST' && path === '/v1/documents' && ofPath === 1) {
      response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' });
      return response.end('{"error":"rate_limited","message":"Later.","request_id":"req_1"}');
    }
    if (path === '/v1/batch/results') await open;
    const answer = await forward(request, bytes);
    const isLost = (path === '/v1/documents' && ofPath === 2) || (path === '/v1/batch/process' && ofPath === 1);
    if (method === 'POST' && isLost) return request.socket.destroy();
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
  readonly lines: () => string[];
  readonly ended: Promise<unknown>;
  readonly process: ChildProcess;
}

async function fileOf(name: string, vendor: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `Vendor: ${vendor}\nTotal: 12.50\n`);
  return path;
}

function runClient(files: readonly string[], env: Record<string, string>): RunningClient {
  const child = spawn(process.execPath, [CLIENT, BATCH, ...files], {
    env: { PATH: process.env['PATH'], POLL_SECONDS: '1', COLUMNS: JSON.stringify(COLUMNS), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code);
  return { lines: () => text.trimEnd().split('\n'), ended, process: child };
}

/** An event as anybody might send it: signed with another secret, and with the right one long ago. */
async function sendForged(hook: string, secret: string): Promise<number[]> {
  const data = { run_id: 'run_forged', batch_name: BATCH, status: 'succeeded', all_done: true };
  const body = JSON.stringify({ type: 'document_batch.run_finished', timestamp: new Date().toISOString(), data });
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

async function replayDelivery(caller: Caller): Promise<void> {
  const { data } = await caller.call<{ data: { delivery_id: string }[] }>('GET', '/v1/webhooks/deliveries');
  const path = `/v1/webhooks/deliveries/${data[0]?.delivery_id}/replay`;
  // While the client's answer to the first is being noted it is still on its way.
  await eventually(async () => (await caller.fetch(path, { method: 'POST' })).ok);
}

const ROW = '[{"vendor":"Acme","total":"12.50"}]';

test('the example client: told by webhook, calls repeated with their keys, and what no webhook told of found by polling', async () => {
  const { caller } = await gateway.newTenant();
  const port = await choosePort(0);
  const hook = `http://127.0.0.1:${port}/hook`;
  const { secret } = await caller.call<{ secret: string }>('PUT', WEBHOOK, { url: hook });
  const road = await openRoad();
  const env = { BATCHGATE_KEY: caller.key, WEBHOOK_SECRET: secret, WEBHOOK_PORT: String(port) };
  const files = [await fileOf('one.txt', 'Acme'), await fileOf('two.txt', 'Acme')];
  const first = runClient(files, { ...env, BATCHGATE_URL: road.url, POLL_SECONDS: '3600' });
  let second: RunningClient | undefined;
  try {
    await eventually(() => first.lines().some((line) => line.endsWith('told by webhook')), { timeoutMs: 60_000 });
    expect(first.lines()).toEqual([expect.stringMatching(/^run_\w+ finished, told by webhook$/)]);
    // A post that was refused or lost comes again with its key, and has one effect.
    const keys = road.posts.map(([, key]) => key);
    expect(road.posts.map(([path]) => path)).toEqual([
      ...Array(4).fill('/v1/documents'),
      ...Array(2).fill('/v1/batch/process'),
    ]);
    expect([new Set(keys.slice(0, 3)).size, new Set(keys).size, keys[4] === keys[5]]).toEqual([1, 3, true]);

    // The same event once more is answered, and no news; what is forged or old is refused.
    await replayDelivery(caller);
    await eventually(() => first.lines().some((line) => /^\w+ came again$/.test(line)));
    expect(await sendForged(hook, secret)).toEqual([400, 400]);
    road.letThrough();
    expect(await first.ended).toBe(0);
    expect(first.lines().slice(2)).toEqual([
      ...Array(2).fill('a call with a wrong signature was refused'),
      `one.txt succeeded: ${ROW}`,
      `two.txt succeeded: ${ROW}`,
    ]);

    // Started again with the same files, and nobody to tell: the documents of before, and one more.
    await caller.call('DELETE', WEBHOOK);
    second = runClient([...files, await fileOf('three.txt', 'Acme')], { ...env, BATCHGATE_URL: gateway.url });
    expect(await second.ended).toBe(0);
    expect(second.lines()).toEqual([
      expect.stringMatching(/^run_\w+ finished, found by polling$/),
      ...['one', 'two', 'three'].map((name) => `${name}.txt succeeded: ${ROW}`),
    ]);
  } finally {
    first.process.kill();
    second?.process.kill();
    await road.close();
  }
});
