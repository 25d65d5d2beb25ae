import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAIError } from 'openai';
import { expect, test } from 'vitest';
import { toProviderError } from './errors.ts';

const now = new Date('2026-11-30T12:00:00Z');

function statusError(status: number, body: unknown, headers: Record<string, string> = {}) {
  const json = typeof body === 'string' ? undefined : (body as object);
  const text = typeof body === 'string' ? body : undefined;
  return toProviderError(
    APIError.generate(status, json, text, new Headers({ 'x-request-id': 'req_1', ...headers })),
    now,
  );
}

const failing = (code: string | null, type: string | null = null, message = 'no') => ({
  error: { message, type, param: null, code },
});
const refused = { isRetryable: false, mayHaveActed: false };
const refusedForNow = { isRetryable: true, mayHaveActed: false };
const unclear = { isRetryable: true, mayHaveActed: true };

test.each([
  [400, failing(null, 'invalid_request_error'), { code: 'rejected', ...refused }],
  [400, failing('billing_hard_limit_reached'), { code: 'quota_exhausted', ...refused }],
  [400, failing('token_limit_exceeded'), { code: 'capacity_full', ...refusedForNow }],
  [400, failing('invalid_input_file'), { code: 'not_found', ...refusedForNow }],
  [400, failing(null, 'invalid_request_error', 'No such File object: file-1'), { code: 'not_found', ...refusedForNow }],
  [401, failing('invalid_api_key'), { code: 'credential_refused', ...refused }],
  [402, '', { code: 'quota_exhausted', ...refused }],
  [403, '', { code: 'credential_refused', ...refused }],
  [404, failing(null), { code: 'not_found', ...refusedForNow }],
  [404, failing('model_not_found'), { code: 'rejected', ...refused }],
  [408, '', { code: 'timed_out', ...unclear }],
  [409, '', { code: 'unavailable', ...unclear }],
  [413, '', { code: 'too_large', ...refused }],
  [422, '', { code: 'rejected', ...refused }],
  [429, failing('rate_limit_exceeded', 'requests'), { code: 'rate_limited', ...refusedForNow }],
  [429, '<html>slow down</html>', { code: 'rate_limited', ...refusedForNow }],
  [429, failing('insufficient_quota', 'insufficient_quota'), { code: 'quota_exhausted', ...refused }],
  [429, failing('project_spend_limit_exceeded', 'insufficient_quota'), { code: 'quota_exhausted', ...refused }],
  [429, failing(null, null, 'Enqueued token limit reached for gpt-5'), { code: 'capacity_full', ...refusedForNow }],
  [500, failing(null, 'server_error'), { code: 'unavailable', ...unclear }],
  [500, failing('insufficient_quota'), { code: 'unavailable', ...unclear }],
  [502, '<html>', { code: 'unavailable', ...unclear }],
  [503, failing('server_is_overloaded'), { code: 'unavailable', ...unclear }],
  [504, '', { code: 'timed_out', ...unclear }],
  [529, '', { code: 'unavailable', ...unclear }],
  [304, '', { code: 'malformed_reply', ...unclear }],
])('a reply %i %j is %o', (status, body, expected) => {
  expect(statusError(status, body)).toMatchObject({ ...expected, status, requestId: 'req_1' });
});

test('carries the wait the provider asks for', () => {
  expect(statusError(429, '', { 'retry-after': '7' }).retryAfterMs).toBe(7000);
  expect(statusError(503, '', { 'retry-after': 'Mon, 30 Nov 2026 12:01:00 GMT' }).retryAfterMs).toBe(60_000);
  expect(statusError(429, '').retryAfterMs).toBeNull();
});

test('keeps the words of the provider but no key', () => {
  const message = 'Incorrect API key provided: sk-proj-abcd****wxyz. You can find your API key at …';
  const error = statusError(401, failing('invalid_api_key', null, message));
  expect(error.message).toContain('Incorrect API key provided: sk-…');
  expect(error.message).not.toContain('wxyz');
});

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

function fetchError(cause: Error): APIConnectionError {
  return new APIConnectionError({ cause: new TypeError('fetch failed', { cause }) });
}

test.each([
  ['a refused connection', fetchError(systemError('ECONNREFUSED', 'connect')), 'unavailable', false],
  [
    'addresses that all refuse',
    fetchError(new AggregateError([systemError('ECONNREFUSED', 'connect'), systemError('ENETUNREACH', 'connect')])),
    'unavailable',
    false,
  ],
  ['an unknown host', fetchError(systemError('ENOTFOUND', 'getaddrinfo')), 'unavailable', false],
  ['a connection reset', fetchError(systemError('ECONNRESET', 'read')), 'connection_lost', true],
  ['a reply cut short', new TypeError('terminated'), 'connection_lost', true],
  ['a reply that is not the JSON it says it is', new SyntaxError('Unexpected token'), 'malformed_reply', true],
  ['no headers in time', new APIConnectionTimeoutError(), 'timed_out', true],
  ['something nobody expected', 'what', 'connection_lost', true],
])('%s: %s', (_name, error, code, mayHaveActed) => {
  expect(toProviderError(error, now)).toMatchObject({ code, mayHaveActed, isRetryable: true, status: null });
});

test('a request the SDK refuses to build was never sent', () => {
  expect(toProviderError(new OpenAIError('path'), now)).toMatchObject({ code: 'rejected', mayHaveActed: false });
});
