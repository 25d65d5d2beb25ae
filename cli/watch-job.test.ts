import { expect, test } from 'vitest';
import type { BatchJob } from '../contracts/job.ts';
import { unreachable, usageError } from './errors.ts';
import type { ProgressFrame } from './progress-view.ts';
import { fakeJob } from './testing/fake-job.ts';
import { watchJob } from './watch-job.ts';

/** Looks at jobs and errors one after the other; each pause takes as long as it says. */
function setUp(looks: readonly (BatchJob | Error)[], signal = new AbortController().signal) {
  const rest = [...looks];
  const frames: ProgressFrame[] = [];
  const pauses: number[] = [];
  let nowMs = 0;
  const watching = {
    calls: {
      getStatus: async () => {
        const look = rest.shift();
        if (look === undefined) throw new Error('looked too often');
        if (look instanceof Error) throw look;
        return look;
      },
    },
    jobId: 'job_1',
    view: { show: (frame: ProgressFrame) => void frames.push(frame), addNotes: () => undefined },
    signal,
  };
  const context = {
    nowMs: () => nowMs,
    sleep: async (delayMs: number) => {
      pauses.push(delayMs);
      nowMs += delayMs;
    },
  };
  return { watching, context, frames, pauses };
}

const RUNNING = fakeJob({ status: 'running' });
const COMPLETED = fakeJob({ status: 'completed' });

test('follows a job to its end and shows every look', async () => {
  const { watching, context, frames } = setUp([RUNNING, RUNNING, COMPLETED]);
  expect(await watchJob(watching, context)).toEqual(COMPLETED);
  expect(frames.map(({ job }) => job.status)).toEqual(['running', 'running', 'completed']);
});

test('ends when the submit turns out to be refused', async () => {
  const refused = fakeJob({ refusal: { error: 'budget_exceeded', message: 'm' } });
  const { watching, context } = setUp([fakeJob({ status: 'validating' }), refused]);
  expect(await watchJob(watching, context)).toEqual(refused);
});

test('looks less often the longer it takes', async () => {
  const { watching, context, pauses } = setUp([...Array.from({ length: 400 }, () => RUNNING), COMPLETED]);
  await watchJob(watching, context);
  expect(pauses[0]).toBe(300);
  expect(pauses.at(-1)).toBe(5_000);
  expect(pauses).toEqual(pauses.toSorted((left, right) => left - right));
});

test('goes on when the gateway is away for a while, and says so', async () => {
  const { watching, context, frames } = setUp([RUNNING, unreachable('away'), COMPLETED]);
  expect(await watchJob(watching, context)).toEqual(COMPLETED);
  expect(frames[1]?.notes).toEqual(['The gateway does not answer; trying again.']);
  expect(frames[2]?.notes).toEqual([]);
});

test('gives up when the gateway stays away', async () => {
  const { watching, context } = setUp([RUNNING, ...Array.from({ length: 1000 }, () => unreachable('away'))]);
  await expect(watchJob(watching, context)).rejects.toThrow('away');
});

test.each([
  ['that was never there', [unreachable('away')]],
  ['that refuses', [RUNNING, usageError('refused')]],
])('does not wait for a gateway %s', async (_what, looks) => {
  const { watching, context } = setUp(looks);
  await expect(watchJob(watching, context)).rejects.toThrow();
});

test('leaves at the signal', async () => {
  const { watching, context } = setUp([RUNNING], AbortSignal.abort());
  expect(await watchJob(watching, context)).toEqual(RUNNING);
});

test('lets each look be used before it is shown', async () => {
  const { watching, context, frames } = setUp([RUNNING, COMPLETED]);
  let written = 0;
  const onLook = async () => {
    written += 10;
  };
  await watchJob({ ...watching, onLook, written: () => written }, context);
  expect(frames.map((frame) => frame.written)).toEqual([10, 20]);
});
