import { createHash, createHmac } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { createGeminiWebhookVerifier } from './webhook.ts';

const SECRET = `whsec_${Buffer.from('a secret of Gemini').toString('base64')}`;
const NEXT_SECRET = `whsec_${Buffer.from('another secret').toString('base64')}`;
const EVENT = { type: 'batch.succeeded', version: 'v1', timestamp: '2026-01-22T12:00:00Z', data: { id: 'batches/b1' } };
const BODY = JSON.stringify(EVENT);

const google = await generateKeyPair('RS256', { extractable: true });
const stranger = await generateKeyPair('RS256');
const jwks = { keys: [{ ...(await exportJWK(google.publicKey)), kid: 'k1', use: 'sig' }] };

const signed = createGeminiWebhookVerifier('gemini', { secrets: [SECRET], jwks: null, audience: null });
const tokens = createGeminiWebhookVerifier('gemini', { secrets: [], jwks, audience: null });

/** As the Standard Webhooks specification says, without the library that verifies. */
function sign({ body = BODY, secret = SECRET, shiftS = 0 } = {}) {
  const timestampS = nowS() + shiftS;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`msg_1.${timestampS}.${body}`).digest('base64');
  const headers = new Headers({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestampS),
    'webhook-signature': `v1,${signature}`,
  });
  return { headers, body: bytes(body) };
}

interface Token {
  readonly claims?: JWTPayload;
  readonly iatShiftS?: number | null;
  readonly key?: CryptoKey;
  readonly kid?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function withToken(options: Token = {}) {
  const { claims = {}, iatShiftS = 0, key = google.privateKey, kid = 'k1', body = BODY, headers = {} } = options;
  const iat = iatShiftS === null ? {} : { iat: nowS() + iatShiftS };
  const token = await new SignJWT({ ...iat, ...claims }).setProtectedHeader({ alg: 'RS256', kid }).sign(key);
  return { headers: new Headers({ 'webhook-signature': token, ...headers }), body: bytes(body) };
}

test('an event signed with a secret names its batch', async () => {
  expect(await signed.verify(sign())).toMatchObject({
    kind: 'event',
    provider: 'gemini',
    eventId: 'msg_1',
    type: 'batch.succeeded',
    providerBatchId: 'batches/b1',
  });
});

test('a batch named without its collection is the same batch', async () => {
  const body = JSON.stringify({ ...EVENT, data: { id: 'b1' } });
  expect(await signed.verify(sign({ body }))).toMatchObject({ providerBatchId: 'batches/b1' });
});

test('any of several secrets will do, and none but them', async () => {
  const both = createGeminiWebhookVerifier('gemini', { secrets: [SECRET, NEXT_SECRET], jwks: null, audience: null });
  for (const secret of [SECRET, NEXT_SECRET]) {
    expect(await both.verify(sign({ secret }))).toMatchObject({ kind: 'event' });
  }
  expect(await signed.verify(sign({ secret: NEXT_SECRET }))).toEqual({ kind: 'refused', reason: 'signature' });
});

test('what was tampered with, is stale, misses a header or is no event is refused', async () => {
  const { headers, body } = sign();
  const without = (name: string) => new Headers([...headers].filter(([key]) => key !== name));
  expect(await signed.verify({ headers, body: bytes(BODY.replace('b1', 'b2')) })).toMatchObject({
    reason: 'signature',
  });
  for (const shiftS of [-301, 302]) expect(await signed.verify(sign({ shiftS }))).toMatchObject({ reason: 'stale' });
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    expect(await signed.verify({ headers: without(name), body })).toMatchObject({ reason: 'malformed' });
  }
  for (const text of ['no JSON', '{}']) {
    expect(await signed.verify(sign({ body: text }))).toMatchObject({ reason: 'malformed' });
  }
});

test('a token of Google’s names the batch of the body where it names none itself', async () => {
  expect(await tokens.verify(await withToken())).toMatchObject({
    kind: 'event',
    eventId: expect.stringMatching(/^jwt:[\w-]{43}$/),
    type: 'batch.succeeded',
    providerBatchId: 'batches/b1',
  });
});

test('an event among the claims counts, whatever the body says', async () => {
  const claims = { type: 'batch.failed', data: { id: 'batches/b2' }, jti: 'event-2' };
  expect(await tokens.verify(await withToken({ claims }))).toMatchObject({
    eventId: 'jti:event-2',
    type: 'batch.failed',
    providerBatchId: 'batches/b2',
  });
});

test.each(['hex', 'base64', 'base64url'] as const)(
  'a hash of the body among the claims has to agree (%s)',
  async (form) => {
    const claims = { body_sha256: createHash('sha256').update(BODY).digest(form) };
    expect(await tokens.verify(await withToken({ claims }))).toMatchObject({ kind: 'event' });
    const other = await withToken({ claims, body: BODY.replace('b1', 'b2') });
    expect(await tokens.verify(other)).toEqual({ kind: 'refused', reason: 'signature' });
  },
);

test.each([
  ['another key', { key: stranger.privateKey }, 'signature'],
  ['a key that is not among those known', { kid: 'k2' }, 'signature'],
  ['a passed expiry', { claims: { exp: nowS() - 400 } }, 'stale'],
  ['a time to come', { claims: { nbf: nowS() + 400 } }, 'stale'],
  ['an old token', { iatShiftS: -301 }, 'stale'],
  ['a token of the future', { iatShiftS: 302 }, 'stale'],
  ['an old delivery', { headers: { 'webhook-timestamp': String(nowS() - 301) } }, 'stale'],
  ['a delivery of no time', { headers: { 'webhook-timestamp': 'now' } }, 'malformed'],
  ['a token that says no time', { iatShiftS: null }, 'malformed'],
  ['a body that is no event', { body: 'no JSON' }, 'malformed'],
] satisfies [string, Token, string][])('a token with %s is refused', async (_, token, reason) => {
  expect(await tokens.verify(await withToken(token))).toEqual({ kind: 'refused', reason });
});

test.each(['none', 'HS256'])('a token under the algorithm %s is refused', async (alg) => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = `${part({ alg, kid: 'k1' })}.${part({ iat: nowS() })}`;
  const mac = createHmac('sha256', JSON.stringify(jwks.keys[0])).update(head).digest('base64url');
  const headers = new Headers({ 'webhook-signature': `${head}.${alg === 'none' ? '' : mac}` });
  expect(await tokens.verify({ headers, body: bytes(BODY) })).toEqual({ kind: 'refused', reason: 'signature' });
});

test('a repeated token is one event, whatever stands beside it and in the unused bits of its signature', async () => {
  const { headers, body } = await withToken();
  const token = headers.get('webhook-signature') ?? '';
  const first = await tokens.verify({ headers, body });
  const beside = new Headers({ 'webhook-signature': token, 'webhook-id': 'any-other' });
  const twin = new Headers({ 'webhook-signature': withOtherLastBit(token) });
  expect(first.kind).toBe('event');
  expect(await tokens.verify({ headers: beside, body })).toEqual(first);
  expect(await tokens.verify({ headers: twin, body })).toEqual(first);
});

test('an event told again under a new token is the same event, and another event is not', async () => {
  const event = { type: 'batch.succeeded', timestamp: '2026-01-22T12:00:00Z', data: { id: 'batches/b1' } };
  const tokensOf = [
    { claims: { ...event, exp: nowS() + 100 }, iatShiftS: -60 },
    { claims: { ...event, exp: nowS() + 200 } },
    { claims: { ...event, data: { id: 'batches/b2' } } },
  ];
  const answers = await Promise.all(tokensOf.map(async (token) => tokens.verify(await withToken(token))));
  const ids = answers.map((answer) => (answer.kind === 'event' ? answer.eventId : answer.reason));
  expect(ids[0]).toMatch(/^jwt:/);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
});

test('a token for another audience is refused where one is expected', async () => {
  const expecting = createGeminiWebhookVerifier('gemini', { secrets: [], jwks, audience: 'my-project' });
  expect(await expecting.verify(await withToken({ claims: { aud: 'my-project' } }))).toMatchObject({ kind: 'event' });
  for (const claims of [{}, { aud: 'another-project' }]) {
    expect(await expecting.verify(await withToken({ claims }))).toEqual({ kind: 'refused', reason: 'signature' });
  }
});

test('neither way of signing stands in for the other', async () => {
  expect(await signed.verify(await withToken())).toEqual({ kind: 'refused', reason: 'signature' });
  expect(await tokens.verify(sign())).toEqual({ kind: 'refused', reason: 'signature' });
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function nowS(): number {
  return Math.floor(Date.now() / 1000);
}

/** 256 bytes fill 341 characters and two bits of the last, so its others say nothing. */
function withOtherLastBit(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return `${token.slice(0, -1)}${alphabet[alphabet.indexOf(token.at(-1) ?? '') ^ 1]}`;
}
