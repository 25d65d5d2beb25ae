import { createHmac, createPublicKey, createVerify } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { FaultAction } from '../fault-actions.ts';
import { AT_ONCE, type Gemini, lines, reached, startGemini, submit, submitInline } from './testing/harness.ts';

const SECRET = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0';
const HOUR_MS = 3_600_000;

interface Delivery {
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A receiver that answers with these statuses in turn, the last one from then on. */
async function receiver(statuses: readonly number[] = [200]) {
  const received: Delivery[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.writeHead(statuses[received.length - 1] ?? statuses.at(-1) ?? 200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const arrived = (count: number) => expect.poll(() => received.length, { timeout: 5_000 }).toBe(count);
  return { url, received, arrived };
}

async function startStatic(statuses: readonly number[] = [200], action?: FaultAction) {
  const hook = await receiver(statuses);
  const gemini = await startGemini({ ...AT_ONCE, webhookUrl: hook.url, webhookSecret: SECRET });
  if (action !== undefined) {
    await gemini.control.faults({ provider: 'gemini', route: 'webhook:deliver', action });
  }
  return { ...hook, gemini };
}

function isSigned({ headers, body }: Delivery): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(SECRET.slice(6), 'base64');
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

/** The claims of a delivery's token if it is signed by the API's key; undefined if it is not. */
async function claimsOf({ rest }: Gemini, { headers }: Delivery): Promise<Record<string, unknown> | undefined> {
  const [head = '', payload = '', signature = ''] = String(headers['webhook-signature']).split('.');
  const { kid, alg } = JSON.parse(Buffer.from(head, 'base64url').toString());
  const { keys } = JSON.parse((await rest('GET', '/.well-known/jwks.json', undefined, { 'x-goog-api-key': '' })).text);
  const jwk = keys.find((key: { kid: string }) => key.kid === kid);
  expect([alg, jwk.alg]).toEqual(['RS256', 'RS256']);
  const verify = createVerify('RSA-SHA256').update(`${head}.${payload}`);
  const isTrue = verify.verify(createPublicKey({ key: jwk, format: 'jwk' }), Buffer.from(signature, 'base64url'));
  return isTrue ? JSON.parse(Buffer.from(payload, 'base64url').toString()) : undefined;
}

test('announces a success by a signed thin event that names the batch and its output', async () => {
  const { gemini, received, arrived } = await startStatic();
  const name = await submit(gemini, lines(['a']));
  const { response } = await reached(gemini, name);
  await arrived(1);
  const [first] = received;
  expect(first && isSigned(first)).toBe(true);
  expect(JSON.parse(first?.body ?? '')).toEqual({
    type: 'batch.succeeded',
    version: 'v1',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    data: { id: name, output_file_uri: response?.responsesFile },
  });
});

test.for([
  { status: 'failed' as const, type: 'batch.failed', data: { error_code: 13, error_message: expect.any(String) } },
  { status: 'expired' as const, type: 'batch.expired', data: {} },
  { status: 'cancelled' as const, type: 'batch.cancelled', data: {} },
])('announces $type', async ({ status, type, data }) => {
  const { gemini, received, arrived } = await startStatic();
  await gemini.control.faults({ provider: 'gemini', route: 'batches.create', action: { end_state: { status } } });
  const name = await submitInline(gemini, ['a']);
  await arrived(1);
  expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ type, data: { id: name, ...data } });
});

test('delivers again until it is accepted, for a day at most', async () => {
  const { gemini, received, arrived } = await startStatic([500]);
  await submitInline(gemini, ['a']);
  await arrived(1);
  await gemini.control.advance(2_000);
  await arrived(2);
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  await gemini.control.advance(25 * HOUR_MS);
  await arrived(3);
  await gemini.control.advance(HOUR_MS);
  expect(await gemini.control.journal({ route: 'webhook:deliver' })).toHaveLength(3);
});

test.for<{ action: FaultAction; deliveries: number; signed: number }>([
  { action: { doubled: true }, deliveries: 2, signed: 2 },
  { action: { bad_signature: true }, deliveries: 1, signed: 0 },
  { action: { timestamp_shift_s: -600 }, deliveries: 1, signed: 1 },
])('delivers as the fault says: $action', async ({ action, deliveries, signed }) => {
  const { gemini, received, arrived } = await startStatic([200], action);
  await submitInline(gemini, ['a']);
  await arrived(deliveries);
  expect(received.filter(isSigned)).toHaveLength(signed);
  const ageS = Date.now() / 1000 - Number(received[0]?.headers['webhook-timestamp']);
  expect(Math.round(ageS / 60)).toBe(action.timestamp_shift_s === undefined ? 0 : 10);
});

test('delivers late or never', async () => {
  const { gemini, received, arrived } = await startStatic([200], { delay_ms: HOUR_MS });
  const late = await submitInline(gemini, ['a']);
  await reached(gemini, late);
  await gemini.control.faults({ provider: 'gemini', route: 'webhook:deliver', action: { lost: true } });
  await reached(gemini, await submitInline(gemini, ['b']));
  expect(received).toHaveLength(0);
  await gemini.control.advance(HOUR_MS);
  await arrived(1);
  expect(JSON.parse(received[0]?.body ?? '').data.id).toBe(late);
});

test("sends a batch's own webhooks a token instead, checked by the published keys", async () => {
  const { gemini, received } = await startStatic();
  const [one, two] = [await receiver(), await receiver()];
  const created = await gemini.client.batches.create({
    model: 'gemini-2.5-flash',
    src: [{ contents: 'a' }],
    config: { webhookConfig: { uris: [one.url, two.url], userMetadata: { job_group: 'nightly' } } },
  });
  await one.arrived(1);
  await two.arrived(1);
  expect(received).toHaveLength(0);
  const [delivery] = one.received;
  if (delivery === undefined) throw new Error('nothing arrived');
  const event = JSON.parse(delivery.body);
  expect(event).toMatchObject({
    type: 'batch.succeeded',
    data: { id: created.name },
    user_metadata: { job_group: 'nightly' },
  });
  const claims = await claimsOf(gemini, delivery);
  expect(claims).toMatchObject({ aud: one.url, iss: expect.any(String), ...event });
  expect(Number(claims?.['exp']) - Number(claims?.['iat'])).toBe(300);
  await gemini.control.settings({ gemini: { webhookAudience: 'my-project' } });
  await submitInline(gemini, ['a'], { webhookConfig: { uris: [one.url] } });
  await one.arrived(2);
  expect(await claimsOf(gemini, one.received[1] ?? delivery)).toMatchObject({ aud: 'my-project' });
});

test.for<{ action: FaultAction; isTrue: boolean }>([
  { action: { bad_signature: true }, isTrue: false },
  { action: { timestamp_shift_s: -600 }, isTrue: true },
])('forges and dates tokens as the fault says: $action', async ({ action, isTrue }) => {
  const hook = await receiver();
  const gemini = await startGemini();
  await gemini.control.faults({ provider: 'gemini', route: 'webhook:deliver', match: { kind: 'dynamic' }, action });
  await submitInline(gemini, ['a'], { webhookConfig: { uris: [hook.url] } });
  await hook.arrived(1);
  const claims = await claimsOf(gemini, hook.received[0] ?? { headers: {}, body: '' });
  expect(claims !== undefined).toBe(isTrue);
  if (isTrue) expect(Number(claims?.['exp'])).toBeLessThan(Date.now() / 1000);
});
