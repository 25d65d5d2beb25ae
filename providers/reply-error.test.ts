import { expect, test } from 'vitest';
import { z } from 'zod';
import { malformedReply, parseReply, redact, rejectedError } from './reply-error.ts';

test('a malformed reply says what came instead', () => {
  const reply = Object.defineProperty({ error: { message: 'The batch was lost', code: 'lost' } }, '_request_id', {
    value: 'req_2',
  });
  expect(malformedReply(reply, 'a batch')).toMatchObject({
    code: 'malformed_reply',
    message: 'the reply is not a batch: The batch was lost',
    requestId: 'req_2',
    mayHaveActed: true,
  });
  expect(malformedReply('<html>Hello</html>', 'a batch').message).toContain('<html>Hello');
});

test.each([
  ['Incorrect API key provided: sk-proj-abcd****wxyz', 'Incorrect API key provided: sk-…'],
  ['invalid x-api-key: sk-ant-api03-abcdwxyz', 'invalid x-api-key: sk-…'],
  ['API key not valid: AIzaSyAbcdefghijk', 'API key not valid: AIza-…'],
  ['the task is-kept', 'the task is-kept'],
  [`half ${'\ud83d'}`, 'half \uFFFD'],
])('%j becomes %j', (message, expected) => {
  expect(redact(message)).toBe(expected);
});

test('takes a reply of the right shape, and no other', () => {
  const schema = z.object({ id: z.string() });
  expect(parseReply(schema, { id: 'a', more: 1 }, 'a thing')).toEqual({ id: 'a' });
  for (const reply of ['<html>', null, { id: 7 }, { error: 'text' }]) {
    expect(() => parseReply(schema, reply, 'a thing')).toThrow(expect.objectContaining({ code: 'malformed_reply' }));
  }
});

test('what the adapter itself refuses was never sent', () => {
  expect(rejectedError('no')).toMatchObject({ code: 'rejected', isRetryable: false, mayHaveActed: false });
});
