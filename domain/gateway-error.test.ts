import { describe, expect, test } from 'vitest';
import { ERROR_CODES, type ErrorCode, type ErrorDetail, GatewayError, STATUS_OF } from './gateway-error.ts';

const detail = (line: number): ErrorDetail => ({ line, error: 'invalid_json', message: 'is not valid JSON' });

test.each<[ErrorCode, number]>([
  ['invalid_json', 400],
  ['unauthorized', 401],
  ['budget_exceeded', 402],
  ['forbidden', 403],
  ['not_found', 404],
  ['idempotency_conflict', 409],
  ['job_busy', 409],
  ['content_deleted', 410],
  ['job_too_large', 413],
  ['model_unknown', 422],
  ['price_unknown', 422],
  ['batch_capability_not_supported', 422],
  ['rate_limited', 429],
  ['internal', 500],
  ['dependency_unavailable', 503],
])('%s answers %i', (code, status) => {
  expect(STATUS_OF[code]).toBe(status);
});

test('every code is snake case and an error status', () => {
  for (const code of ERROR_CODES) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(STATUS_OF[code]).toBeGreaterThanOrEqual(400);
  }
});

describe('GatewayError', () => {
  test('carries what it is given and has no member it is not given', () => {
    const error = new GatewayError('rate_limited', 'Slow down.', { retryAfterSeconds: 7 });
    expect(error).toMatchObject({
      name: 'GatewayError',
      code: 'rate_limited',
      message: 'Slow down.',
      retryAfterSeconds: 7,
    });
    expect('field' in error || 'details' in error).toBe(false);
  });

  test('shows 100 details and counts them all', () => {
    const details = Array.from({ length: 150 }, (_, index) => detail(index + 1));
    const error = new GatewayError('invalid_json', 'Some lines are not JSON.', { details });
    expect([error.details?.length, error.detailsCount]).toEqual([100, 150]);
    const counted = new GatewayError('invalid_json', 'Some lines are not JSON.', { details, detailsCount: 9_000 });
    expect(counted.detailsCount).toBe(9_000);
  });
});
