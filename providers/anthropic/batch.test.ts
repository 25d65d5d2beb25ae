import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { toNativeBatch } from './batch.ts';
import { BatchReply } from './wire.ts';

const ID = 'msgbatch_013Zva2CMHLNnXjNJJKqJ2EF';

function readBatch(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(`./fixtures/batch-${name}.json`, import.meta.url), 'utf8'));
}

const decode = (reply: unknown) => toNativeBatch(BatchReply.parse(reply));

test('reads a batch that has just been created', () => {
  expect(decode(readBatch('in-progress'))).toEqual({
    providerBatchId: ID,
    phase: 'running',
    end: null,
    nativeStatus: 'in_progress',
    nativeCounts: { processing: 10, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    progress: null,
    createdAt: new Date('2026-11-30T10:00:00.123Z'),
    expiresAt: new Date('2026-12-01T10:00:00.123Z'),
    inputFileId: null,
    outputFileId: null,
    errorFileId: null,
    operationName: null,
    validationErrors: [],
    capacityRefused: false,
  });
});

test.each([
  ['canceling', { phase: 'cancelling', end: null, outputFileId: null, progress: null }],
  ['ended', { end: 'completed', outputFileId: ID, progress: { total: 10, completed: 8, failed: 2 } }],
  ['ended-all-errored', { end: 'completed', outputFileId: ID, progress: { total: 10, completed: 0, failed: 10 } }],
  ['ended-canceled', { end: 'cancelled', outputFileId: ID, progress: { total: 10, completed: 5, failed: 0 } }],
  ['ended-canceled-too-late', { end: 'completed', outputFileId: ID }],
  ['ended-expired', { end: 'expired', outputFileId: ID, progress: { total: 10, completed: 1, failed: 0 } }],
  ['ended-archived', { phase: 'ended', end: 'completed', outputFileId: null }],
])('reads a batch that is %s', (name, expected) => {
  expect(decode(readBatch(name))).toMatchObject(expected);
});

test('an archived batch has no results even where it still names them', () => {
  expect(decode({ ...readBatch('ended'), archived_at: '2026-12-29T10:00:00Z' }).outputFileId).toBeNull();
});

test('a batch that has not ended has no results, whatever it names', () => {
  expect(decode({ ...readBatch('ended'), processing_status: 'finishing' })).toMatchObject({
    phase: 'running',
    nativeStatus: 'finishing',
    outputFileId: null,
  });
});

test.each([
  [
    { processing: '0', succeeded: '7', errored: '0', canceled: '1', expired: '2' },
    { total: 10, completed: 7, failed: 0 },
  ],
  [{ processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 }, null],
  [{ processing: 5, succeeded: 0, errored: 0, canceled: 0, expired: 0 }, null],
  [{ processing: 5, succeeded: 'many', errored: 0, canceled: 0, expired: 0 }, null],
  [{ processing: 5, succeeded: -1, errored: 0, canceled: 0, expired: 0 }, null],
  [{ processing: 5 }, null],
  ['ten', null],
  [null, null],
  [undefined, null],
])('reads counts %j as progress %j', (counts, expected) => {
  expect(decode({ ...readBatch('ended'), request_counts: counts }).progress).toEqual(expected);
});

test.each([null, 0, 'soon', '', 1_795_000_000])('reads created_at %j as no date', (createdAt) => {
  expect(decode({ ...readBatch('in-progress'), created_at: createdAt }).createdAt).toBeNull();
});

test('what goes into rows can go into rows', () => {
  const batch = decode({
    id: ID,
    processing_status: 'odd\u0000',
    request_counts: { processing: 'x\u0000', succeeded: 3, errored: {} },
  });
  expect(batch).toMatchObject({
    nativeStatus: 'odd\uFFFD',
    nativeCounts: { processing: 'x\uFFFD', succeeded: 3, errored: null, canceled: null, expired: null },
  });
});

test('takes the least of a batch', () => {
  expect(decode({ id: ID })).toMatchObject({ providerBatchId: ID, phase: 'running', nativeStatus: 'unknown' });
});

test.each([
  ['a string', '<html>'],
  ['an error object', { type: 'error', error: { type: 'api_error', message: 'gone' } }],
  ['a batch with an error in it', { id: ID, processing_status: 'in_progress', error: {} }],
  ['another object', { id: ID, type: 'message', processing_status: 'ended' }],
  ['no id', { processing_status: 'in_progress' }],
  ['an id that could be no part of a path', { id: 'msgbatch 1\n', processing_status: 'in_progress' }],
  ['results of another type', { id: ID, processing_status: 'ended', results_url: 7 }],
  ['nothing', null],
])('does not take %s for a batch', (_name, reply) => {
  expect(BatchReply.safeParse(reply).success).toBe(false);
});
