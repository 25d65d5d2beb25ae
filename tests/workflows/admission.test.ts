import { WithStartWorkflowOperation } from '@temporalio/client';
import { expect, test } from 'vitest';
import type { AdmissionVerdict } from '../../activities/interfaces.ts';
import type { batchJob } from '../../workflows/batch-job.ts';
import { batchJobWorkflowId } from '../../workflows/ids.ts';
import { admitUpdate, type CancelRequest, cancelSignal } from '../../workflows/messages.ts';
import { searchAttributes } from '../../workflows/search-attributes.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeJob } from './fake-job.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();

function submit(job: FakeJob, submissionNo = 1): Promise<AdmissionVerdict> {
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof batchJob>('batchJob', {
    ...engine().jobStart(job, { submissionNo }),
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return engine().client.workflow.executeUpdateWithStart(admitUpdate, {
    updateId: `admit-${submissionNo}`,
    args: [{ submissionNo }],
    startWorkflowOperation,
  });
}

function resultOf(job: FakeJob): Promise<unknown> {
  return engine().client.workflow.result(batchJobWorkflowId(job.jobId));
}

test.concurrent.each([
  ['accepted', 'completed', 'completed'],
  ['refused', 'refused', 'draft'],
  ['cancelled', 'cancelled', 'cancelled'],
  ['stale', 'stale', 'validating'],
] as const)('a submission judged %s is answered so, and its workflow ends %s', async (verdict, state, status) => {
  const job = engine().addJob({ verdicts: [verdict] });
  expect(await submit(job)).toEqual({ verdict });
  expect(await resultOf(job)).toEqual({ state });
  expect(job.called('planShards')).toHaveLength(verdict === 'accepted' ? 1 : 0);
  const { typedSearchAttributes } = await engine().client.workflow.getHandle(batchJobWorkflowId(job.jobId)).describe();
  expect(typedSearchAttributes.get(searchAttributes.status)).toBe(status);
});

test.concurrent('an update repeated with the same id is judged once and answered alike', async () => {
  const job = engine().addJob();
  job.batchesOpen = true;
  expect(await Promise.all([submit(job), submit(job), submit(job)])).toEqual([
    { verdict: 'accepted' },
    { verdict: 'accepted' },
    { verdict: 'accepted' },
  ]);
  expect(await submit(job)).toEqual({ verdict: 'accepted' });
  expect(job.called('admitJob')).toHaveLength(1);
  job.batchesOpen = false;
  expect(await resultOf(job)).toEqual({ state: 'completed' });
});

test.concurrent('a refused job may be submitted again under the same workflow id', async () => {
  const job = engine().addJob({ verdicts: ['refused', 'refused', 'accepted'] });
  expect(await submit(job, 1)).toEqual({ verdict: 'refused' });
  expect(await submit(job, 2)).toEqual({ verdict: 'refused' });
  expect(await submit(job, 3)).toEqual({ verdict: 'accepted' });
  expect(await resultOf(job)).toEqual({ state: 'completed' });
});

test.concurrent('a submission made before the refused one has ended is judged for itself', async () => {
  const job = engine().addJob({ verdicts: ['refused', 'accepted'] });
  const judging = job.hold('admitJob');
  const first = submit(job, 1);
  await eventually(() => job.called('admitJob').length === 1);
  const second = submit(job, 2);
  const handle = engine().client.workflow.getHandle(batchJobWorkflowId(job.jobId));
  await eventually(async () => {
    const { events } = await handle.fetchHistory();
    return events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length === 2;
  });
  judging.release();
  expect(await Promise.all([first, second])).toEqual([{ verdict: 'refused' }, { verdict: 'accepted' }]);
  expect(job.called('admitJob').map(({ submissionNo }) => submissionNo)).toEqual([1, 2]);
  expect(await resultOf(job)).toEqual({ state: 'completed' });
});

test.concurrent('an update for a submission the run never judges is answered as stale, and the job still ends', async () => {
  const job = engine().addJob();
  job.batchesOpen = true;
  expect(await submit(job, 1)).toEqual({ verdict: 'accepted' });
  expect(await submit(job, 2)).toEqual({ verdict: 'stale' });
  job.batchesOpen = false;
  expect(await resultOf(job)).toEqual({ state: 'completed' });
});

test.concurrent.each([
  ['nothing', undefined],
  ['a word', 'now'],
  ['null', null],
  ['a number in words', { submissionNo: 'one' }],
])('an update that carries %s asks for the submission of the run', async (_what, payload) => {
  const job = engine().addJob();
  const handle = await engine().startJob(job);
  const answer =
    payload === undefined ? handle.executeUpdate('admit') : handle.executeUpdate('admit', { args: [payload] });
  expect(await answer).toEqual({ verdict: 'accepted' });
  expect(await handle.result()).toEqual({ state: 'completed' });
});

test.concurrent('a cancel that comes with the start is recorded before the job is judged, so that nothing is reserved', async () => {
  const job = engine().addJob();
  const handle = await engine().client.workflow.signalWithStart<typeof batchJob, [CancelRequest?]>('batchJob', {
    ...engine().jobStart(job),
    signal: cancelSignal,
    signalArgs: [{ by: 'alice' }],
  });
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.calls.map(({ name }) => name)).toEqual(['recordCancel', 'admitJob']);
});

test.concurrent('a cancel that comes while the job is judged ends an accepted job without sending anything', async () => {
  const job = engine().addJob({ shards: 2 });
  const judging = job.hold('admitJob');
  const handle = await engine().startJob(job);
  await eventually(() => job.called('admitJob').length === 1);
  await handle.signal(cancelSignal, { by: 'alice', reason: 'typo' });
  judging.release();
  expect(await handle.result()).toEqual({ state: 'cancelled' });
  expect(job.cancel).toEqual({ by: 'alice', reason: 'typo' });
  expect(job.called('submitAttempt')).toEqual([]);
  expect(job.shards.map(({ closed }) => closed)).toEqual(['cancelled', 'cancelled']);
});
