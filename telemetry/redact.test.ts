import { expect, test } from 'vitest';
import { describeError, redact, scrub } from './redact.ts';

test.each([
  'authorization',
  'Authorization',
  'x-api-key',
  'api_key',
  'apiKey',
  'key',
  'password',
  'prompt',
  'body',
  'messages',
  'content',
  'input',
  'request_body',
  'text',
  'line_items',
  'file_name',
  'batch_name',
])('hides the value of %s', (name) => {
  expect(redact({ [name]: 'secret' })).toEqual({ [name]: '[redacted]' });
});

test.each(['keyId', 'jobId', 'inputTokens', 'content_type', 'bodyBytes', 'attemptToken'])(
  'shows the value of %s',
  (name) => {
    expect(redact({ [name]: 'shown' })).toEqual({ [name]: 'shown' });
  },
);

test('hides inside objects and lists', () => {
  expect(redact({ items: [{ custom_id: 'a', request: { messages: ['hello'] } }] })).toEqual({
    items: [{ custom_id: 'a', request: { messages: '[redacted]' } }],
  });
});

test('ends on a cycle and bounds lists and texts', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  expect(JSON.stringify(redact(cycle))).toContain('[deeper]');
  const { list, note } = redact({ list: Array.from({ length: 60 }, () => 1), note: 'x'.repeat(5000) });
  expect(list).toHaveLength(51);
  expect(note).toHaveLength(2001);
});

test('makes bigints, dates and bytes readable', () => {
  expect(redact({ amount: 12n, at: new Date(0), hash: new Uint8Array(32), none: undefined })).toEqual({
    amount: '12',
    at: '1970-01-01T00:00:00.000Z',
    hash: '[32 bytes]',
    none: undefined,
  });
});

test('describes an error by kind, code, message, stack and cause only', () => {
  const error = Object.assign(new TypeError('bad', { cause: new Error('why') }), {
    code: 'E1',
    detail: 'Key (custom_id)=(x)',
  });
  expect(describeError(error)).toEqual({
    type: 'TypeError',
    code: 'E1',
    message: 'bad',
    stack: expect.stringContaining('TypeError: bad'),
    cause: { type: 'Error', message: 'why', stack: expect.any(String) },
  });
});

test.each([
  ['Bearer abc.def-123456', 'Bearer [redacted]'],
  ['sk-proj-0123456789abcdef', 'sk-[redacted]'],
  ['whsec_c2VjcmV0LXNlY3JldA==', 'whsec_[redacted]'],
  ['postgres://me:pa55@localhost:5432/x', 'postgres://me:[redacted]@localhost:5432/x'],
  ['bg_tenant_0123456789abcdefghijABCD', 'bg_tenant_[redacted]'],
  ['job_01m8pfr26tfakvzzg64tqf92vy', 'job_01m8pfr26tfakvzzg64tqf92vy'],
])('scrubs %s', (text, scrubbed) => {
  expect(scrub(text)).toBe(scrubbed);
});
