import { typeidUnboxed } from 'typeid-js';
import { expect, test } from 'vitest';
import { findBucket, findIdTimeMs, monthBucket } from './bucket.ts';

test.each([
  ['2026-01-01T00:00:00.000Z', 202_601],
  ['2026-08-31T23:59:59.999Z', 202_608],
  ['2026-12-31T23:59:59.999Z', 202_612],
])('%s is in the bucket %i', (time, bucket) => {
  expect(monthBucket(Date.parse(time))).toBe(bucket);
});

test('refuses what is no time', () => {
  expect(() => monthBucket(Number.NaN)).toThrow(RangeError);
});

test('reads the time that a TypeID was made at', () => {
  const before = Date.now();
  const timeMs = findIdTimeMs(typeidUnboxed('job'));
  expect(timeMs).toBeGreaterThanOrEqual(before);
  expect(timeMs).toBeLessThanOrEqual(Date.now());
});

test.each([
  ['job_01j7n5a000e8ert7rw0000000', null],
  ['job_81j7n5a000e8ert7rw00000000', null],
  ['job_01J7N5A000E8ERT7RW00000000', null],
  ['tenant_acme', null],
  ['', null],
  ['job_00000000000000000000000000', 197_001],
  ['01j7n5a000e8ert7rw00000000', 202_409],
])('the bucket of %j is %s', (id, bucket) => {
  expect(findBucket(id)).toBe(bucket);
});
