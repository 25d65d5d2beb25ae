import { Anthropic, AnthropicError, APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { toProviderError } from './errors.ts';

const now = new Date('2026-11-30T12:00:00Z');

function statusError(status: number, body: unknown, headers: Record<string, string> = {}) {
  const json = typeof body === 'string' ? undefined : (body as object);
  const text = typeof body === 'string' ? body : undefined;
  return toProviderError(
    APIError.generate(status, json, text, new Headers({ 'request-id': 'req_1', ...headers })),
    now,
  );
}

const failing = (type: string, message = 'no', code: string | null = null) => ({
  type: 'error',
  error: { type, message, ...(code !== null && { details: { error_code: code } }) },
  request_id: 'req_1',
});
const refused = { isRetryable: false, mayHaveActed: false };
const refusedForNow = { isRetryable: true, mayHaveActed: false };
const unclear = { isRetryable: true, mayHaveActed: true };

test.each([
  [400, failing('invalid_request_error', 'requests.3.custom_id: too long'), { code: 'rejected', ...refused }],
  [
    400,
    failing('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    { code: 'quota_exhausted', ...refused },
  ],
  [
    400,
    failing('invalid_request_error', 'You have reached your specified API usage limits.'),
    { code: 'quota_exhausted', ...refused },
  ],
  [400, failing('invalid_request_error', 'Held', 'organization_on_hold'), { code: 'credential_refused', ...refused }],
  [401, failing('authentication_error'), { code: 'credential_refused', ...refused }],
  [402, failing('billing_error'), { code: 'quota_exhausted', ...refused }],
  [402, '', { code: 'quota_exhausted', ...refused }],
  [403, failing('permission_error'), { code: 'credential_refused', ...refused }],
  [403, '', { code: 'credential_refused', ...refused }],
  [404, failing('not_found_error'), { code: 'not_found', ...refusedForNow }],
  [404, failing('not_found_error', 'model: claude-nothing'), { code: 'rejected', ...refused }],
  [408, '', { code: 'timed_out', ...unclear }],
  [409, failing('conflict_error'), { code: 'unavailable', ...unclear }],
  [413, failing('request_too_large'), { code: 'too_large', ...refused }],
  [413, '', { code: 'too_large', ...refused }],
  [422, '', { code: 'rejected', ...refused }],
  [429, failing('rate_limit_error', 'Number of requests per minute'), { code: 'rate_limited', ...refusedForNow }],
  [429, '<html>slow down</html>', { code: 'rate_limited', ...refusedForNow }],
  [429, failing('rate_limit_error', 'no', 'ramp_limit_exceeded'), { code: 'rate_limited', ...refusedForNow }],
  [429, failing('rate_limit_error', 'no', 'enforced_spend_limit_reached'), { code: 'quota_exhausted', ...refused }],
  [429, failing('rate_limit_error', 'no', 'contract_spend_limit_reached'), { code: 'quota_exhausted', ...refused }],
  [
    429,
    failing('rate_limit_error', 'This would exceed the limit of queued batch requests of your organization.'),
    { code: 'capacity_full', ...refusedForNow },
  ],
  [
    429,
    failing('rate_limit_error', 'Too many batch requests in the processing queue.'),
    { code: 'capacity_full', ...refusedForNow },
  ],
  [500, failing('api_error'), { code: 'unavailable', ...unclear }],
  [500, failing('invalid_request_error', 'credit balance is too low'), { code: 'unavailable', ...unclear }],
  [502, '<html>', { code: 'unavailable', ...unclear }],
  [503, '', { code: 'unavailable', ...unclear }],
  [504, failing('timeout_error'), { code: 'timed_out', ...unclear }],
  [529, failing('overloaded_error'), { code: 'unavailable', ...unclear }],
  [304, '', { code: 'malformed_reply', ...unclear }],
])('a reply %i %j is %o', (status, body, expected) => {
  expect(statusError(status, body)).toMatchObject({ ...expected, status, requestId: 'req_1' });
});

test('carries the wait the provider asks for', () => {
  expect(statusError(429, '', { 'retry-after': '7' }).retryAfterMs).toBe(7000);
  expect(statusError(529, '', { 'retry-after': 'Mon, 30 Nov 2026 12:01:00 GMT' }).retryAfterMs).toBe(60_000);
  expect(statusError(429, '').retryAfterMs).toBeNull();
});

test('keeps the words of the provider but no key', () => {
  const error = statusError(401, failing('authentication_error', 'invalid x-api-key: sk-ant-api03-abcdwxyz'));
  expect(error.message).toBe('invalid x-api-key: sk-…');
});

test('does not quote a body that is no error of the provider: it may repeat the request', () => {
  for (const body of [
    '<html>You sent: a secret prompt</html>',
    { echo: 'a secret prompt' },
    { error: 'a secret prompt' },
  ]) {
    expect(statusError(502, body).message).toBe('the provider answered 502');
  }
});

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

function fetchError(cause: Error): APIConnectionError {
  return new APIConnectionError({ cause: new TypeError('fetch failed', { cause }) });
}

test.each([
  ['a refused connection', fetchError(systemError('ECONNREFUSED', 'connect')), 'unavailable', false],
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
  expect(toProviderError(new AnthropicError('path'), now)).toMatchObject({ code: 'rejected', mayHaveActed: false });
  const client = new Anthropic({ apiKey: 'sk-test', baseURL: 'http://localhost:1' });
  expect(() => client.messages.batches.retrieve('..')).toThrow(AnthropicError);
});
