import { expect, test } from 'vitest';
import { createWebhookVerifiers } from './webhooks.ts';

const SECRET = 'whsec_c2VjcmV0';
const NONE = { signedLikeOpenAi: new Map([['openai', []]]), gemini: { secrets: [], jwks: null, audience: null } };
const jwks = { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'k1' }] };

test.each([
  ['nothing', NONE, []],
  ['a secret of OpenAI', { ...NONE, signedLikeOpenAi: new Map([['openai', [SECRET]]]) }, ['openai']],
  ['one of a provider like it', { ...NONE, signedLikeOpenAi: new Map([['mine', [SECRET]]]) }, ['mine']],
  ['a secret of Gemini', { ...NONE, gemini: { ...NONE.gemini, secrets: [SECRET] } }, ['gemini']],
  ['keys of Gemini', { ...NONE, gemini: { ...NONE.gemini, jwks } }, ['gemini']],
  ['an audience alone', { ...NONE, gemini: { ...NONE.gemini, audience: 'x' } }, []],
])('with %s set, events are taken of %j', (_, settings, providers) => {
  expect([...createWebhookVerifiers(settings).keys()]).toEqual(providers);
});
