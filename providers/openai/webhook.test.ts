import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createOpenAiWebhookVerifier } from './webhook.ts';

const SECRET = `whsec_${Buffer.from('the first secret').toString('base64')}`;
const NEXT_SECRET = `whsec_${Buffer.from('the next secret').toString('base64')}`;
const EVENT = { id: 'evt_1', object: 'event', created_at: 1, type: 'batch.completed', data: { id: 'batch_1' } };

const verifier = createOpenAiWebhookVerifier('openai', [SECRET]);

interface Sent {
  readonly body?: string;
  readonly secret?: string;
  readonly shiftS?: number;
  /** Replaced after signing; null takes a header away. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly delivered?: string | Uint8Array;
}

/** Signed by the Standard Webhooks library, since the SDK only verifies. */
function deliver({ body = JSON.stringify(EVENT), secret = SECRET, shiftS = 0, headers = {}, delivered = body }: Sent) {
  const timestampS = Math.floor(Date.now() / 1000) + shiftS;
  const sent = new Headers({
    'webhook-id': 'wh_1',
    'webhook-timestamp': String(timestampS),
    'webhook-signature': new Webhook(secret).sign('wh_1', new Date(timestampS * 1000), body),
  });
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) sent.delete(name);
    else sent.set(name, value);
  }
  return { headers: sent, body: typeof delivered === 'string' ? new TextEncoder().encode(delivered) : delivered };
}

test('a signed event names its batch, under the id of its delivery', async () => {
  const before = Date.now() - 1000;
  const event = await verifier.verify(deliver({}));
  expect(event).toEqual({
    kind: 'event',
    provider: 'openai',
    eventId: 'wh_1',
    type: 'batch.completed',
    providerBatchId: 'batch_1',
    sentAt: expect.any(Date),
  });
  if (event.kind === 'event') expect(event.sentAt.getTime()).toBeGreaterThanOrEqual(before);
});

test('the signature covers every byte of a long body with Unicode and nested numbers', async () => {
  const items = Array.from({ length: 200 }, (_, index) => ({ n: [index, -0.1e-7, 1e21], text: `žluť 🦆 ${index}` }));
  const body = JSON.stringify({ ...EVENT, items });
  expect(await verifier.verify(deliver({ body }))).toMatchObject({ kind: 'event', providerBatchId: 'batch_1' });
  for (const delivered of [body.replace('"n":[199', '"n":[198'), `${body} `, body.replace('ž', 'z'), `\uFEFF${body}`]) {
    expect(await verifier.verify(deliver({ body, delivered }))).toEqual({ kind: 'refused', reason: 'signature' });
  }
});

test('any of several secrets will do, and none but them', async () => {
  const both = createOpenAiWebhookVerifier('openai', [SECRET, NEXT_SECRET]);
  for (const secret of [SECRET, NEXT_SECRET]) {
    expect(await both.verify(deliver({ secret }))).toMatchObject({ kind: 'event' });
  }
  expect(await verifier.verify(deliver({ secret: NEXT_SECRET }))).toEqual({ kind: 'refused', reason: 'signature' });
});

test('a good signature beside a wrong one will do', async () => {
  const { headers, body } = deliver({});
  headers.set('webhook-signature', `v1,${Buffer.alloc(32).toString('base64')} ${headers.get('webhook-signature')}`);
  expect(await verifier.verify({ headers, body })).toMatchObject({ kind: 'event' });
});

test.each([
  ['another body', { delivered: JSON.stringify({ ...EVENT, data: { id: 'batch_2' } }) }, 'signature'],
  ['another id', { headers: { 'webhook-id': 'wh_2' } }, 'signature'],
  ['another time within the tolerance', { headers: { 'webhook-timestamp': String(nowS() + 60) } }, 'signature'],
  ['no signature that can be read', { headers: { 'webhook-signature': 'v1,é' } }, 'signature'],
  ['a time that is too old', { shiftS: -301 }, 'stale'],
  ['a time that is too new', { shiftS: 302 }, 'stale'],
  ['a time that only begins with a number', { headers: { 'webhook-timestamp': `${nowS()}x` } }, 'malformed'],
  ['a body that is no UTF-8', { delivered: Uint8Array.of(0xff) }, 'malformed'],
  ['no id', { headers: { 'webhook-id': null } }, 'malformed'],
  ['no time', { headers: { 'webhook-timestamp': null } }, 'malformed'],
  ['no signature', { headers: { 'webhook-signature': null } }, 'malformed'],
  ['signed text that is no JSON', { body: 'batch.completed' }, 'malformed'],
  ['a signed list', { body: '[]' }, 'malformed'],
  ['a signed object without a type', { body: '{"data":{"id":"batch_1"}}' }, 'malformed'],
] satisfies [string, Sent, string][])('%s is refused', async (_, sent, reason) => {
  expect(await verifier.verify(deliver(sent))).toEqual({ kind: 'refused', reason });
});

test.each([-290, 290])('a time %i seconds off is fresh', async (shiftS) => {
  expect(await verifier.verify(deliver({ shiftS }))).toMatchObject({ kind: 'event' });
});

test('a repeated delivery bears the same id, whatever its time', async () => {
  const ids = await Promise.all([0, -100].map(async (shiftS) => verifier.verify(deliver({ shiftS }))));
  expect(ids.map((event) => event.kind === 'event' && event.eventId)).toEqual(['wh_1', 'wh_1']);
});

test.each([
  ['of something else', { type: 'response.completed', data: { id: 'resp_1' } }],
  ['without a readable id', { type: 'batch.completed', data: { id: 7 } }],
  ['without data', { type: 'batch.completed' }],
])('an event %s names no batch', async (_, event) => {
  const { type } = event;
  const answer = await verifier.verify(deliver({ body: JSON.stringify(event) }));
  expect(answer).toMatchObject({ kind: 'event', type, providerBatchId: null });
});

function nowS(): number {
  return Math.floor(Date.now() / 1000);
}
