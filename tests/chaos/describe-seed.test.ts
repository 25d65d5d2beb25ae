import { expect, test } from 'vitest';
import { describeFailure, summarizeSeed } from './describe-seed.ts';
import { planSeed } from './plan.ts';

const plan = planSeed(11);
const jobs = plan.jobs.map((_, index) => ({ jobId: `job_${index}`, state: index === 0 ? 'failed' : 'completed' }));

test('a failure names the seed, what differs, every act at its time, and how to play it again', () => {
  const text = describeFailure({ plan, tookMs: 12_345, jobs, broken: ['a budget holds 1.00 in the end'] });
  expect(text).toContain('seed 11: FAILED after 12.3 s');
  expect(text).toContain('a budget holds 1.00 in the end');
  for (const { atMs, act } of plan.acts) expect(text).toContain(`${atMs} ms  ${act.kind}`);
  for (const { jobId } of jobs) expect(text).toContain(jobId);
  expect(text).toContain('npm run chaos -- --seed 11');
});

test('a seed that passed is one line', () => {
  const text = summarizeSeed({ plan, tookMs: 9_876, jobs, broken: [] });
  expect(text).toBe(`seed 11: holds after 9.9 s (${jobs.length - 1} completed, 1 failed)`);
});
