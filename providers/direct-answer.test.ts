import { expect, test } from 'vitest';
import { type FailureCode, failureClassOf } from '../domain/failure.ts';
import { readReplyObject, toDirectAnswer, toDirectError } from './direct-answer.ts';
import type { LineResult } from './provider.ts';
import { ProviderError } from './provider-error.ts';

const limits = { idleTimeoutMs: 1_000, signal: new AbortController().signal };

const failed = (code: FailureCode): Extract<LineResult, { kind: 'failed' }> => ({
  kind: 'failed',
  class: failureClassOf(code),
  code,
  message: 'as the provider put it',
  ...{ nativeType: null, nativeCode: null, statusCode: null },
});

test('reads an object, without the space around it', async () => {
  const reply = await readReplyObject(new Response('\uFEFF {"a": 1.0} \n'), limits);
  expect(reply).toEqual({ json: '{"a": 1.0}', body: { a: 1 } });
});

test.each([
  ['too long', '{"a":"0123456789"}'],
  ['no JSON', 'oops'],
  ['no object', '[1]'],
  ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['nothing', null],
])('a reply that is %s is malformed', async (_, body) => {
  const reading = readReplyObject(new Response(body), { ...limits, maxBytes: 10 });
  await expect(reading).rejects.toMatchObject({ code: 'malformed_reply', isRetryable: true, mayHaveActed: true });
});

test('a reply that has no end is left', async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.from('more')),
    cancel() {
      isCancelled = true;
    },
  });
  await expect(readReplyObject(new Response(body), { ...limits, maxBytes: 100 })).rejects.toBeInstanceOf(ProviderError);
  expect(isCancelled).toBe(true);
});

test.each<FailureCode>(['invalid_request', 'context_too_long', 'model_unavailable', 'safety_blocked'])(
  'a failure by %s is the answer',
  (code) => {
    expect(toDirectAnswer(failed(code))).toEqual(failed(code));
  },
);

test.each<[FailureCode, ProviderError['code'], boolean]>([
  ['provider_server_error', 'unavailable', true],
  ['provider_overloaded', 'unavailable', true],
  ['provider_timeout', 'timed_out', true],
  ['rate_limited', 'rate_limited', true],
  ['provider_account_exhausted', 'quota_exhausted', false],
  ['provider_credential_rejected', 'credential_refused', false],
  ['malformed_result', 'malformed_reply', true],
  ['no_provider_detail', 'malformed_reply', true],
])('a failure by %s that cost nothing is thrown as %s', (from, code, isRetryable) => {
  expect(() => toDirectAnswer(failed(from))).toThrow(
    expect.objectContaining({ code, isRetryable, mayHaveActed: true }),
  );
});

test('a failure that was counted is the answer, so that it can be charged', () => {
  const counted = { ...failed('malformed_result'), usage: { inputTokens: 10, outputTokens: 5 } };
  expect(toDirectAnswer(counted)).toEqual(counted);
});

test.each(['expired', 'cancelled'] as const)('a single call is never %s', (kind) => {
  expect(() => toDirectAnswer({ kind })).toThrow(expect.objectContaining({ code: 'malformed_reply' }));
});

test('a refusal keeps its facts and the names of its error, not its sentences', () => {
  const facts = { status: 429, requestId: 'req_1', retryAfterMs: 7_000, isRetryable: true, mayHaveActed: false };
  const error = new ProviderError({ ...facts, code: 'capacity_full', message: 'no room for "my secret plan"' });
  expect(toDirectError(error, [null, 'tokens', 'my secret plan'])).toMatchObject({
    ...facts,
    code: 'rate_limited',
    message: 'the provider answered 429 tokens',
  });
});
