import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toNativeBatch } from './batch.ts';
import { OperationReply } from './wire.ts';

type Json = Record<string, unknown>;

function readBatch(name: string): Json & { metadata: Json } {
  return JSON.parse(readFileSync(new URL(`./fixtures/batch-${name}.json`, import.meta.url), 'utf8'));
}

const decode = (reply: unknown) => toNativeBatch(OperationReply.parse(reply));

function withMetadata(name: string, changes: Json): Json {
  const reply = readBatch(name);
  return { ...reply, metadata: { ...reply.metadata, ...changes } };
}

test('reads a batch that has just been created', () => {
  expect(decode(readBatch('pending'))).toEqual({
    providerBatchId: 'batches/qx7k2m9d',
    phase: 'validating',
    end: null,
    nativeStatus: 'BATCH_STATE_PENDING',
    nativeCounts: { requestCount: '10', pendingRequestCount: '10' },
    progress: { total: 10, completed: 0, failed: 0 },
    createdAt: new Date('2026-11-30T09:00:00.123Z'),
    expiresAt: new Date('2026-12-02T09:00:00.123Z'),
    inputFileId: 'files/in3kq8',
    outputFileId: null,
    errorFileId: null,
    operationName: 'batches/qx7k2m9d',
    validationErrors: [],
    capacityRefused: false,
  });
});

test.each([
  ['running', { phase: 'running', end: null, progress: { total: 10, completed: 4, failed: 1 } }],
  ['succeeded-file', { phase: 'ended', end: 'completed', outputFileId: 'files/batch-qx7k2m9d' }],
  ['succeeded-inline', { end: 'completed', outputFileId: 'batches/qx7k2m9d' }],
  ['succeeded-inline-embeddings', { end: 'completed', outputFileId: 'batches/qx7k2m9d' }],
  ['cancelled', { end: 'cancelled', outputFileId: null, validationErrors: [] }],
  ['expired', { end: 'expired', outputFileId: null, capacityRefused: false }],
  ['failed-quota', { end: 'failed', capacityRefused: true, validationErrors: [{ code: 'RESOURCE_EXHAUSTED' }] }],
  [
    'failed',
    {
      end: 'failed',
      capacityRefused: false,
      validationErrors: [
        {
          code: 'INVALID_ARGUMENT',
          message: 'Failed to parse the input file at line 3: invalid JSON.',
          line: 3,
          param: null,
        },
      ],
    },
  ],
])('reads a batch that is %s', (name, expected) => {
  expect(decode(readBatch(name))).toMatchObject(expected);
});

test('takes its results from the response where the metadata has none', () => {
  const { response, ...rest } = readBatch('succeeded-file');
  const reply = { ...rest, response, metadata: { state: 'BATCH_STATE_SUCCEEDED' } };
  expect(decode(reply).outputFileId).toBe('files/batch-qx7k2m9d');
});

test('a cancelled or failed batch with a file of results names it, and is then not refused for capacity', () => {
  const output = { responsesFile: 'files/out' };
  expect(decode(withMetadata('cancelled', { output })).outputFileId).toBe('files/out');
  expect(decode(withMetadata('failed-quota', { output }))).toMatchObject({
    outputFileId: 'files/out',
    capacityRefused: false,
  });
});

test('a spent account is no full queue', () => {
  const error = { code: 8, message: 'Your prepayment credits are depleted.' };
  expect(decode({ ...readBatch('failed-quota'), error }).capacityRefused).toBe(false);
});

test.each([
  ['no state and an error', undefined, { code: 13, message: 'x' }, { phase: 'ended', end: 'failed' }],
  ['no state and a cancel', undefined, { code: 1 }, { phase: 'ended', end: 'cancelled' }],
  ['no state and a deadline', undefined, { code: 4 }, { phase: 'ended', end: 'expired' }],
  ['no state and no error', undefined, undefined, { phase: 'ended', end: 'completed' }],
  ['a state nobody knows and an error', 'BATCH_STATE_ODD', { code: 13 }, { phase: 'ended', end: 'failed' }],
  ['a state that runs', 'BATCH_STATE_RUNNING', undefined, { phase: 'running', end: null }],
  ['a state that ended well beside an error', 'BATCH_STATE_SUCCEEDED', { code: 13 }, { end: 'completed' }],
])('done with %s', (_case, state, error, expected) => {
  expect(decode({ name: 'batches/b1', done: true, metadata: { state }, error })).toMatchObject(expected);
});

test('a state nobody knows is running until the operation is done, in the provider’s own word', () => {
  expect(decode(withMetadata('running', { state: 'BATCH_STATE_ARCHIVING' }))).toMatchObject({
    phase: 'running',
    end: null,
    nativeStatus: 'BATCH_STATE_ARCHIVING',
  });
});

test.each([
  [
    { requestCount: '10', failedRequestCount: '3' },
    { total: 10, completed: 0, failed: 3 },
  ],
  [
    { requestCount: 10, successfulRequestCount: 10 },
    { total: 10, completed: 10, failed: 0 },
  ],
  [{ requestCount: '5', successfulRequestCount: '9' }, null],
  [{ requestCount: 'many' }, null],
  [{ requestCount: '0' }, null],
  [{}, null],
  ['ten', null],
  [undefined, null],
])('reads counts %j as progress %j', (batchStats, expected) => {
  expect(decode(withMetadata('running', { batchStats })).progress).toEqual(expected);
});

test('what goes into rows can go into rows', () => {
  expect(
    decode(withMetadata('running', { state: 'odd\u0000', batchStats: { requestCount: 'x\u0000' } })),
  ).toMatchObject({
    nativeStatus: 'odd\uFFFD',
    nativeCounts: { requestCount: 'x\uFFFD' },
  });
});

test('takes the least of a batch, and odd values in what only informs', () => {
  expect(decode({ name: 'batches/b1' })).toMatchObject({ phase: 'running', createdAt: null, expiresAt: null });
  expect(decode(withMetadata('running', { createTime: 'soon', inputConfig: 7, displayName: {} }))).toMatchObject({
    createdAt: null,
    inputFileId: null,
  });
});

test.each([
  ['a string', '<html>'],
  ['an error object', { error: { code: 500, message: 'gone' } }],
  ['another operation', { name: 'operations/x', metadata: { state: 'BATCH_STATE_SUCCEEDED' } }],
  ['a name that climbs', { name: 'batches/..' }],
  ['no name', { metadata: { state: 'BATCH_STATE_RUNNING' } }],
  ['a file of another kind', withMetadata('succeeded-file', { output: { responsesFile: '../secrets' } })],
  ['results that are no list', withMetadata('running', { output: { inlinedResponses: { inlinedResponses: 3 } } })],
  ['nothing', null],
])('does not take %s for a batch', (_name, reply) => {
  expect(OperationReply.safeParse(reply).success).toBe(false);
});
