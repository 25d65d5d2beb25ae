import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toNativeBatch } from './batch.ts';
import { BatchReply } from './wire.ts';

function readBatch(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(`./fixtures/batch-${name}.json`, import.meta.url), 'utf8'));
}

const decode = (reply: unknown) => toNativeBatch(BatchReply.parse(reply));

test('reads a batch that has just been created', () => {
  expect(decode(readBatch('validating'))).toEqual({
    providerBatchId: 'batch_671a0c2f',
    phase: 'validating',
    end: null,
    nativeStatus: 'validating',
    nativeCounts: { total: 0, completed: 0, failed: 0 },
    progress: null,
    createdAt: new Date(1_795_000_000_000),
    expiresAt: new Date(1_795_086_400_000),
    inputFileId: 'file-7Yx1',
    outputFileId: null,
    errorFileId: null,
    operationName: null,
    validationErrors: [],
    capacityRefused: false,
  });
});

test.each([
  ['in-progress', { phase: 'running', end: null, progress: { total: 10, completed: 4, failed: 1 } }],
  ['completed', { phase: 'ended', end: 'completed', outputFileId: 'file-out1', errorFileId: 'file-err1' }],
  ['completed-all-failed', { end: 'completed', outputFileId: null, errorFileId: 'file-err1' }],
  ['expired', { end: 'expired', outputFileId: 'file-out1', progress: { total: 10, completed: 1, failed: 0 } }],
  ['cancelled', { end: 'cancelled', outputFileId: 'file-out1' }],
  ['failed-token-limit', { end: 'failed', capacityRefused: true }],
  [
    'failed-validation',
    {
      end: 'failed',
      capacityRefused: false,
      validationErrors: [
        { code: 'invalid_json_line', line: 3, param: null },
        { code: 'duplicate_custom_id', line: 7, param: 'custom_id' },
      ],
    },
  ],
])('reads a batch that is %s', (name, expected) => {
  expect(decode(readBatch(name))).toMatchObject(expected);
});

test.each([
  [
    'with another fault besides',
    { errors: { data: [{ code: 'token_limit_exceeded' }, { code: 'empty_file' }] } },
    false,
  ],
  ['with no fault named', { errors: { data: [] } }, false],
  ['with a file, so something ran', { output_file_id: 'file-1' }, false],
  ['by its message alone', { errors: { data: [{ message: 'Enqueued token limit reached for gpt-5' }] } }, true],
  ['and is not failed', { status: 'in_progress' }, false],
])('a full queue %s: capacityRefused is %s', (_case, changes, expected) => {
  expect(decode({ ...readBatch('failed-token-limit'), ...changes }).capacityRefused).toBe(expected);
});

test.each([
  [
    { total: '10', completed: '7', failed: '0' },
    { total: 10, completed: 7, failed: 0 },
  ],
  [{ total: 0, completed: 0, failed: 0 }, null],
  [{ total: 5, completed: 9, failed: 0 }, null],
  [{ total: 5, completed: 'many', failed: 0 }, null],
  [{ total: 5, completed: -1, failed: 0 }, null],
  [{ total: 5 }, null],
  ['ten', null],
  [null, null],
  [undefined, null],
])('reads counts %j as progress %j', (counts, expected) => {
  expect(decode({ ...readBatch('in-progress'), request_counts: counts }).progress).toEqual(expected);
});

test.each([
  ['1795000000', new Date(1_795_000_000_000)],
  [null, null],
  [0, null],
  ['soon', null],
  [1e15, null],
])('reads created_at %j as %s', (createdAt, expected) => {
  expect(decode({ ...readBatch('validating'), created_at: createdAt }).createdAt).toEqual(expected);
});

test('what goes into rows can go into rows', () => {
  const batch = decode({
    id: 'batch_1',
    status: 'odd\u0000',
    request_counts: { total: 'x\u0000', completed: 3, other: {} },
  });
  expect(batch).toMatchObject({
    nativeStatus: 'odd\uFFFD',
    nativeCounts: { total: 'x\uFFFD', completed: 3, failed: null },
  });
});

test('a status it does not know is running, in the provider’s own word', () => {
  expect(decode({ ...readBatch('completed'), status: 'archiving' })).toMatchObject({
    phase: 'running',
    end: null,
    nativeStatus: 'archiving',
  });
});

test('takes the least of a batch, and odd values in what only informs', () => {
  expect(decode({ id: 'batch_1', status: 'in_progress' })).toMatchObject({
    providerBatchId: 'batch_1',
    progress: null,
  });
  expect(decode({ id: 'batch_1', status: 'failed', errors: 'many', metadata: 3 })).toMatchObject({
    validationErrors: [],
  });
  expect(decode({ id: 'batch_1', status: 'failed', errors: { data: [7, { code: 'x', line: '3' }] } })).toMatchObject({
    validationErrors: [
      { code: 'unknown', line: null },
      { code: 'x', line: null },
    ],
  });
});

test.each([
  ['a string', '<html>'],
  ['an error object', { error: { message: 'gone' } }],
  ['a batch with an error in it', { id: 'batch_1', status: 'in_progress', error: {} }],
  ['another object', { id: 'file-1', object: 'file', status: 'processed' }],
  ['no id', { status: 'in_progress' }],
  ['an id that could be no part of a path', { id: 'batch 1\n', status: 'in_progress' }],
  ['a file id of another type', { id: 'batch_1', status: 'completed', output_file_id: 7 }],
  ['nothing', null],
])('does not take %s for a batch', (_name, reply) => {
  expect(BatchReply.safeParse(reply).success).toBe(false);
});
