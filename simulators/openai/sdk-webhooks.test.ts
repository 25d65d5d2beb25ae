import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { FaultAction } from '../fault-actions.ts';
import { AT_ONCE, chatLines, reached, startOpenAi, submit } from './testing/harness.ts';

const SECRET = `whsec_${Buffer.from('a secret of the test').toString('base64')}`;

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver that answers each delivery with the next status, the last one for ever. */
async function startReceiver(statuses: number[]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    const status = statuses[Math.min(received.length, statuses.length) - 1] ?? 200;
    response.writeHead(status, status < 400 && status >= 300 ? { location: '/elsewhere' } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const arrived = (count: number) => vi.waitFor(() => expect(received.length).toBeGreaterThanOrEqual(count));
  return { url: `http://127.0.0.1:${port}/hook`, received, arrived };
}

async function startWithWebhook(statuses: number[] = [200], action?: FaultAction) {
  const receiver = await startReceiver(statuses);
  const settings = { ...AT_ONCE, webhookUrl: receiver.url, webhookSecret: SECRET, webhookRetryBaseMs: 60_000 };
  const started = await startOpenAi(settings);
  if (action !== undefined) {
    await started.control.faults({ provider: 'openai', route: 'webhook:deliver', action });
  }
  const unwrap = ({ body, headers }: Received) =>
    started.client.webhooks.unwrap(body, headers as Record<string, string>, SECRET);
  return { ...started, ...receiver, unwrap };
}

const webhookIds = (received: Received[]) => new Set(received.map(({ headers }) => headers['webhook-id']));

test.for([
  { prompt: 'a', type: 'batch.completed' },
  { prompt: '[[sim:expire]]', type: 'batch.expired' },
  { prompt: '[[sim:invalid_line]]', type: 'batch.failed' },
])('sends a signed thin $type that the SDK unwraps', async ({ prompt, type }) => {
  const { client, received, arrived, unwrap } = await startWithWebhook();
  const batch = await submit(client, chatLines([prompt]));
  await arrived(1);
  const [first = { headers: {}, body: '' }] = received;
  expect(await unwrap(first)).toMatchObject({
    id: expect.stringMatching(/^evt_/),
    object: 'event',
    type,
    data: { id: batch.id },
  });
  expect(Object.keys(JSON.parse(first.body).data)).toEqual(['id']);
});

test('announces a cancel', async () => {
  const { client, control, received, arrived, unwrap } = await startWithWebhook();
  await control.settings({ openai: { inProgressMs: 3_600_000 } });
  const { id } = await submit(client, chatLines(['a']));
  await client.batches.cancel(id);
  await arrived(1);
  expect(await unwrap(received[0] ?? { headers: {}, body: '' })).toMatchObject({ type: 'batch.cancelled' });
});

test.for([500, 302])('delivers again after %i, with the same id and body, until it is accepted', async (status) => {
  const { client, control, received, arrived, unwrap } = await startWithWebhook([status, status, 200]);
  await submit(client, chatLines(['a']));
  await arrived(1);
  await vi.waitFor(async () => {
    await control.advance(60_000);
    expect(received).toHaveLength(3);
  });
  expect(webhookIds(received).size).toBe(1);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  for (const each of received) await unwrap(each);
  const attempts = await control.journal({ route: 'webhook:deliver' });
  expect(attempts.map((entry) => [entry.status, entry.facts['attempt']])).toEqual([
    [status, 1],
    [status, 2],
    [200, 3],
  ]);
  await control.advance(86_400_000);
  await control.journal();
  expect(received).toHaveLength(3);
});

test('delivers twice', async () => {
  const { client, received, arrived, unwrap } = await startWithWebhook([200], { doubled: true });
  await submit(client, chatLines(['a']));
  await arrived(2);
  expect(webhookIds(received).size).toBe(1);
  for (const each of received) await unwrap(each);
});

test('delivers late', async () => {
  const { client, control, received, arrived } = await startWithWebhook([200], { delay_ms: 3_600_000 });
  await reached(client, (await submit(client, chatLines(['a']))).id);
  await control.settings({ openai: { webhookRetryBaseMs: 1 } });
  expect(received).toHaveLength(0);
  await control.advance(3_600_000);
  await arrived(1);
});

test.for([{ bad_signature: true as const }, { timestamp_shift_s: -600 }, { timestamp_shift_s: 600 }])(
  'delivers what the SDK rejects by %o, and after a refusal what it accepts',
  async (action) => {
    const { client, control, received, arrived, unwrap } = await startWithWebhook([400, 200], action);
    await submit(client, chatLines(['a']));
    await arrived(1);
    await expect(unwrap(received[0] ?? { headers: {}, body: '' })).rejects.toThrow();
    await control.advance(60_000);
    await arrived(2);
    await unwrap(received[1] ?? { headers: {}, body: '' });
  },
);

test('loses a delivery for good', async () => {
  const { client, received, arrived } = await startWithWebhook([200], { lost: true });
  const first = await submit(client, chatLines(['a']));
  await reached(client, first.id);
  const second = await submit(client, chatLines(['a']));
  await arrived(1);
  expect(received.map(({ body }) => JSON.parse(body).data.id)).toEqual([second.id]);
});

test('forgets deliveries under way on reset', async () => {
  const { client, control, received, arrived } = await startWithWebhook([500, 200]);
  await submit(client, chatLines(['a']));
  await arrived(1);
  await control.reset();
  await control.advance(3_600_000);
  const second = await submit(client, chatLines(['a']));
  await arrived(2);
  expect(received.slice(1).map(({ body }) => JSON.parse(body).data.id)).toEqual([second.id]);
});
