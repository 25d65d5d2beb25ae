import { expect, test } from 'vitest';
import { describeProgress, type ProgressFrame, renderProgress, statusStyle } from './progress-view.ts';
import { counts, fakeJob } from './testing/fake-job.ts';
import { textWidth } from './text-width.ts';

const NOW_MS = Date.parse('2026-08-19T10:10:00Z');
const plain = (_style: string, text: string) => text;

function frame(changes: Partial<ProgressFrame> = {}): ProgressFrame {
  const job = fakeJob({
    name: 'Nightly',
    status: 'running',
    counts: counts(1000, { completed: 480, failed: 20 }),
    progress: { completed: 740, failed: 10, as_of: '2026-08-19T10:09:00.000Z' },
    cost: { estimated: '1.00', reserved: '1.10', held: '0.60', settled: '0.50', currency: 'USD' },
    estimated_completion_at: '2026-08-19T10:13:20.000Z',
  });
  return { job, nowMs: NOW_MS, startedMs: NOW_MS - 65_000, written: 500, notes: [], ...changes };
}

test('shows bar, counts, cost, time and the expected end', () => {
  expect(renderProgress(frame(), 100, plain)).toEqual([
    'job_1  Nightly  chat.completions on analysis-small',
    'running     ████████████████████▒▒▒▒▒▒▒▒▒▒░░░░░░░░░░  50%  500 of 1,000: 480 completed, 20 failed',
    'cost 0.50 of 1.10 USD   1 min 5 s   should end in 3 min 20 s   500 results written',
  ]);
});

test('shows why nothing moves, and what is to be known at once', () => {
  const job = { ...frame().job, waiting: { reason: 'the provider queue is full', since: '2026-08-19T10:05:00.000Z' } };
  const lines = renderProgress(frame({ job, notes: ['one', 'two'] }), 100, plain);
  expect(lines.slice(3)).toEqual(['waiting for 5 min 0 s: the provider queue is full', 'one', 'two']);
});

test.each([20, 40, 60, 200])('never draws wider than %i columns', (columns) => {
  const job = {
    ...frame().job,
    name: 'x'.repeat(300),
    waiting: { reason: 'y'.repeat(300), since: '2026-08-19T10:05:00.000Z' },
  };
  for (const line of renderProgress(frame({ job, notes: ['z'.repeat(300)] }), columns, plain)) {
    expect(textWidth(line)).toBeLessThanOrEqual(columns);
  }
});

test('says nothing of an end once it has come', () => {
  const job = { ...frame().job, status: 'completed' as const };
  expect(renderProgress(frame({ job }), 100, plain).join('\n')).not.toContain('should end');
});

test('says it in one line for a log', () => {
  expect(describeProgress(frame({ notes: ['careful'] }))).toBe(
    'job_1 running, 500 of 1000 settled (480 completed, 20 failed), cost 0.50 USD, 500 results written, careful',
  );
});

test('a job without items is at nought', () => {
  const job = fakeJob({ status: 'validating' });
  expect(renderProgress(frame({ job, written: null }), 80, plain)[1]).toContain('0%  0 of 0: 0 completed');
});

test('colours a good end green and a bad one red', () => {
  expect([statusStyle('completed'), statusStyle('failed'), statusStyle('expired')]).toEqual(['green', 'red', 'yellow']);
});
