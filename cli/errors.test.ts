import { expect, test } from 'vitest';
import { describeError, errorJson, inputError, refusal, unreachable, usageError } from './errors.ts';

test('names code, field and request id in one line', () => {
  const error = refusal(422, {
    error: 'model_unknown',
    message: 'Unknown model.',
    field: 'model_name',
    request_id: 'req_1',
  });
  expect(describeError(error)).toBe('model_unknown: Unknown model. (field: model_name, request id: req_1)');
  expect(error.exit).toBe('refused');
});

test('does not say a field twice, and says what to do about a key', () => {
  const error = refusal(401, {
    error: 'unauthorized',
    message: 'Send a key in Authorization.',
    field: 'Authorization',
    request_id: 'r',
  });
  expect(describeError(error)).toBe(
    'unauthorized: Send a key in Authorization. Give --key or set BATCHGATE_KEY (operator commands: --operator-key or BATCHGATE_OPERATOR_KEY; admin commands: --admin-key or BATCHGATE_ADMIN_KEY). (request id: r)',
  );
});

test('shows the first findings, each with its place, and how many more there are', () => {
  const details = Array.from({ length: 12 }, (_, index) => ({
    line: index + 1,
    custom_id: `r${index}`,
    field: 'request',
    error: 'invalid_item' as const,
    message: 'wrong',
  }));
  const envelope = {
    error: 'invalid_item' as const,
    message: 'Nothing was stored.',
    details,
    details_count: 40,
    request_id: 'r',
  };
  const lines = describeError(refusal(400, envelope)).split('\n');
  expect(lines[1]).toBe('  line 1, r0, request: wrong');
  expect(lines).toHaveLength(12);
  expect(lines.at(-1)).toBe('  … and 30 more');
});

test('does not repeat a single finding that the message already tells', () => {
  const details = [{ line: 1, error: 'invalid_item' as const, message: 'it is wrong' }];
  const envelope = { error: 'invalid_item' as const, message: 'line 1: it is wrong.', details, request_id: 'r' };
  expect(describeError(refusal(400, envelope)).split('\n')).toHaveLength(1);
});

test('says our own errors without a code', () => {
  expect(describeError(usageError('--x is wrong.', '--x'))).toBe('--x is wrong.');
  expect(describeError(inputError('a.csv', 3, 'no'))).toBe('a.csv, line 3: no');
  expect(describeError(unreachable('Nobody there.', 'Start it.'))).toBe('Nobody there. Start it.');
});

test('prints JSON with the exit code', () => {
  expect(JSON.parse(errorJson(usageError('no', '--x')))).toEqual({
    error: 'usage',
    message: 'no',
    field: '--x',
    exit_code: 2,
  });
});

test('a fault of the gateway is no refusal', () => {
  expect(refusal(503, { error: 'dependency_unavailable', message: 'm', request_id: 'r' }).exit).toBe('unreachable');
});

test('lets nothing through that would steer a terminal', () => {
  expect(describeError(usageError('a\x1b[2Jb'))).toBe('a [2Jb');
});
