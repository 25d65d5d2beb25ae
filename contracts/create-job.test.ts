import { expect, test } from 'vitest';
import { CreateJob } from './create-job.ts';

const JOB = { endpoint: 'chat.completions', model: 'analysis-large' };

function fault(defaults: unknown) {
  const result = CreateJob.safeParse({ ...JOB, request_defaults: defaults });
  return result.success ? null : result.error.issues[0]?.path.join('.');
}

test.each([
  ['plain values', { temperature: 0.5, stop: ['a'], n: 2 ** 53 - 1, deep: { a: [{ b: null }] } }, null],
  ['a whole number beyond 2^53', { deep: [{ seed: 2 ** 53 }] }, 'request_defaults.deep.0.seed'],
  ['a lone surrogate', { stop: ['\ud800'] }, 'request_defaults.stop.0'],
  ['a lone surrogate in a key', { a: { '\udc00': 1 } }, 'request_defaults.a'],
  ['a list', [], 'request_defaults'],
  ['a text', 'x', 'request_defaults'],
])('request_defaults with %s', (_, defaults, path) => {
  expect(fault(defaults)).toBe(path);
});

test('request_defaults nested beyond reason are refused without overflowing the stack', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`);
  expect(fault(deep)).toMatch(/^request_defaults(\.a)+$/);
});

test.each(['0', '0.00', '25.5', '0.000000000001'])('max_cost may be %s', (max_cost) => {
  expect(CreateJob.safeParse({ ...JOB, max_cost }).success).toBe(true);
});

test.each(['', '-1', '1e3', '01', '.5', '1,5', ' 1', '0.0000000000001', '9'.repeat(30)])(
  'max_cost may not be "%s"',
  (max_cost) => {
    expect(CreateJob.safeParse({ ...JOB, max_cost }).success).toBe(false);
  },
);
