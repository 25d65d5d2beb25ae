import { expect, test } from 'vitest';
import { toProviderError, toStatusError } from './errors.ts';

const now = new Date('2026-11-30T12:00:00Z');

function statusError(status: number, error: object | string, headers: Record<string, string> = {}) {
  const body = typeof error === 'string' ? error : JSON.stringify({ error });
  return toStatusError({ status, headers: new Headers(headers), body }, now);
}

const saying = (status: string, message: string, ...details: object[]) => ({ status, message, details });
const exhausted = (message: string, ...details: object[]) => saying('RESOURCE_EXHAUSTED', message, ...details);
const retryInfo = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });
const quota = (quotaId: string) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId }],
});
const invalidKey = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' };
const CURRENT_QUOTA = 'You exceeded your current quota, please check your plan and billing details.';
const refused = { isRetryable: false, mayHaveActed: false };
const refusedForNow = { isRetryable: true, mayHaveActed: false };
const unclear = { isRetryable: true, mayHaveActed: true };

test.each([
  [400, saying('INVALID_ARGUMENT', 'Bad line'), { code: 'rejected', ...refused }],
  [400, saying('INVALID_ARGUMENT', 'API key not valid.'), { code: 'credential_refused', ...refused }],
  [400, saying('INVALID_ARGUMENT', 'Bad request', invalidKey), { code: 'credential_refused', ...refused }],
  [400, saying('INVALID_ARGUMENT', 'Request payload size exceeds the limit: 20971520 bytes.'), { code: 'too_large' }],
  [400, saying('INVALID_ARGUMENT', 'The file exceeds the limit of 2147483648 bytes.'), { code: 'too_large' }],
  [400, saying('INVALID_ARGUMENT', 'The file files/a1 has expired.'), { code: 'not_found', ...refusedForNow }],
  [
    400,
    saying('FAILED_PRECONDITION', 'Please enable billing on your project.'),
    { code: 'quota_exhausted', ...refused },
  ],
  [401, '', { code: 'credential_refused', ...refused }],
  [403, saying('PERMISSION_DENIED', 'Denied'), { code: 'credential_refused', ...refused }],
  [403, saying('PERMISSION_DENIED', 'No permission to access the File a1 or it may not exist.'), { code: 'not_found' }],
  [404, saying('NOT_FOUND', 'Requested entity was not found.'), { code: 'not_found', ...refusedForNow }],
  [404, saying('NOT_FOUND', 'models/x is not found for API version v1beta'), { code: 'rejected', ...refused }],
  [408, '', { code: 'timed_out', ...unclear }],
  [409, '', { code: 'unavailable', ...unclear }],
  [413, '<html>', { code: 'too_large', ...refused }],
  [429, '<html>slow down</html>', { code: 'rate_limited', ...refusedForNow }],
  [429, exhausted('Resource has been exhausted (e.g. check quota).'), { code: 'rate_limited', ...refusedForNow }],
  [
    429,
    exhausted(CURRENT_QUOTA, quota('GenerateRequestsPerMinutePerProject'), retryInfo('34s')),
    { code: 'rate_limited' },
  ],
  [429, exhausted(CURRENT_QUOTA, quota('BatchRequestsPerMinutePerProject')), { code: 'rate_limited' }],
  [
    429,
    exhausted(CURRENT_QUOTA, quota('GenerateRequestsPerDayPerProject'), retryInfo('1s')),
    { code: 'capacity_full' },
  ],
  [429, exhausted(CURRENT_QUOTA), { code: 'capacity_full', ...refusedForNow }],
  [429, exhausted('Enqueued tokens limit reached for gemini-2.5-pro'), { code: 'capacity_full', ...refusedForNow }],
  [429, exhausted('Too many concurrent batch jobs'), { code: 'capacity_full', ...refusedForNow }],
  [429, exhausted('Your prepayment credits are depleted.'), { code: 'quota_exhausted', ...refused }],
  [429, exhausted('Your project has exceeded its monthly spending cap.'), { code: 'quota_exhausted', ...refused }],
  [499, '', { code: 'unavailable', ...unclear }],
  [500, saying('INTERNAL', 'The file was not found.'), { code: 'unavailable', ...unclear }],
  [503, saying('UNAVAILABLE', 'The model is overloaded.'), { code: 'unavailable', ...unclear }],
  [504, saying('DEADLINE_EXCEEDED', 'Too late'), { code: 'timed_out', ...unclear }],
  [304, '', { code: 'malformed_reply', ...unclear }],
])('a reply %i %j is %o', (status, error, expected) => {
  expect(statusError(status, error)).toMatchObject({ ...expected, status });
});

test('carries the wait the provider asks for', () => {
  expect(statusError(429, exhausted('Slow', retryInfo('34.5s'))).retryAfterMs).toBe(34_500);
  expect(statusError(429, exhausted('Slow', retryInfo('1s')), { 'retry-after': '7' }).retryAfterMs).toBe(1000);
  expect(statusError(429, exhausted('Slow', retryInfo('soon')), { 'retry-after': '7' }).retryAfterMs).toBe(7000);
  expect(statusError(429, exhausted('Slow', retryInfo('999999999s'))).retryAfterMs).toBe(86_400_000);
  expect(statusError(429, exhausted('Slow')).retryAfterMs).toBeNull();
});

test('reads an error in a list of one', () => {
  expect(statusError(429, JSON.stringify([{ error: exhausted('Batch queue is full') }]))).toMatchObject({
    code: 'capacity_full',
    message: 'Batch queue is full',
  });
});

test.each([
  "Consumer 'api_key:AIzaSyD4x8kQ2m7w' has been suspended.",
  'See https://generativelanguage.googleapis.com/v1beta/batches?key=AIzaSyD4x8kQ2m7w&alt=json',
  'Refused key AQ.Ab8RN6D4x8kQ2m7w',
])('keeps the words of the provider but no key: %s', (message) => {
  const error = statusError(403, saying('PERMISSION_DENIED', message));
  expect(error.message).not.toContain('D4x8kQ2m7w');
  expect(error.message).toContain('…');
});

test('keeps nothing of a page', () => {
  expect(statusError(502, '<html>prompt text</html>').message).toBe('the provider answered 502');
});

test.each([
  ['a refused connection', Object.assign(new Error('connect'), { syscall: 'connect' }), 'unavailable', false],
  [
    'a connection reset',
    Object.assign(new Error('read'), { syscall: 'read', code: 'ECONNRESET' }),
    'connection_lost',
    true,
  ],
  ['something nobody expected', 'what', 'connection_lost', true],
])('%s: %s', (_name, error, code, mayHaveActed) => {
  expect(toProviderError(error)).toMatchObject({ code, mayHaveActed, isRetryable: true, status: null });
});

test('a reply that is no JSON is malformed, and not quoted', () => {
  const error = toProviderError(new SyntaxError(`Unexpected token 's', "secret" is not valid JSON`));
  expect(error).toMatchObject({ code: 'malformed_reply', mayHaveActed: true });
  expect(error.message).not.toContain('secret');
  expect(error.cause).toBeUndefined();
});
