import { afterAll, beforeEach, expect, test } from 'vitest';
import type { ApiCaller } from '../../harness/api.ts';
import { TestRuns } from '../../harness/document-runs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder, upload } from '../documents/document-fixture.ts';
import { findings, ScriptedWorkflows, sweeper } from './sweep-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});

const MINUTE_MS = 60_000;
const NONE = { looked: 0, repaired: 0, raised: 0, failed: 0 };

let runs: TestRuns;
let caller: ApiCaller;
let calls: string[];
let running: Set<string>;
let workflows: ScriptedWorkflows;
let sweep: ReturnType<typeof sweeper>;
beforeEach(async () => {
  await db.pool.query('DELETE FROM sweep_findings');
  await db.pool.query("UPDATE document_runs SET state = 'finished'");
  await db.pool.query("UPDATE batch_jobs SET state = 'failed', completed_at = now()");
  runs = new TestRuns(db, folder.store);
  caller = await runs.caller();
  [calls, running, workflows] = [[], new Set(), new ScriptedWorkflows()];
  const control = {
    start: async ({ runId, mode, documents }: { runId: string; mode: string; documents: number }) => {
      calls.push(`start ${runId} ${mode} ${documents}`);
      return !running.has(runId);
    },
    wake: async (runId: string) => void calls.push(`wake ${runId}`),
  };
  sweep = sweeper(db, { runs: control, workflows, now: runs.now });
});

async function started(mode: 'direct' | 'batch'): Promise<string> {
  await upload(caller, 'b', 'one');
  return runs.process(caller, 'b', { mode });
}

test('a run without a workflow is started again, one that has one is left alone, and one that is over is not looked at', async () => {
  const runId = await started('direct');
  expect(await sweep('sweepRuns')).toEqual(NONE);
  runs.advance(MINUTE_MS + 1_000);
  expect(await sweep('sweepRuns')).toEqual({ ...NONE, looked: 1, repaired: 1 });
  expect(calls).toEqual([`start ${runId} direct 1`]);
  expect(await findings(db)).toMatchObject([
    {
      kind: 'run_without_workflow',
      subject: runId,
      jobId: runId,
      tenantId: runs.tenants.get(caller),
      outcome: 'repaired',
    },
  ]);
  running.add(runId);
  expect(await sweep('sweepRuns')).toEqual({ ...NONE, looked: 1 });
  await runs.untilWaiting(runId);
  expect(await sweep('sweepRuns')).toEqual(NONE);
});

test('a document that nobody has been at for long wakes its run, and is raised where that does not help', async () => {
  const runId = await started('direct');
  const { complete } = runs.provider;
  runs.provider.complete = async () => {
    throw new Error('the worker died');
  };
  await runs.attempt(runId).catch(() => undefined);
  runs.provider.complete = complete;
  expect(await sweep('sweepDocuments')).toEqual(NONE);
  runs.advance(11 * MINUTE_MS);
  expect(await sweep('sweepDocuments')).toEqual({ ...NONE, looked: 1, repaired: 1 });
  expect(await sweep('sweepDocuments')).toEqual({ ...NONE, looked: 1, raised: 1 });
  expect(calls).toEqual([`wake ${runId}`, `wake ${runId}`]);
  const [document] = await runs.documents(caller, 'b');
  expect(await findings(db)).toMatchObject([{ kind: 'document_without_progress', subject: document.id, jobId: runId }]);
  await runs.untilWaiting(runId);
  expect(await sweep('sweepDocuments')).toEqual(NONE);
});

test('the batch job of a run is none of the sweeps before its requests are written, and all of theirs from then on', async () => {
  const runId = await started('batch');
  runs.advance(MINUTE_MS);
  expect(await sweep('recoverJobs')).toMatchObject({ started: 0 });
  await runs.untilWaiting(runId);
  expect(await sweep('recoverJobs')).toMatchObject({ started: 1 });
  expect(workflows.calls).toEqual([`start ${runId}`]);
  await runs.driveJob(runId);
  runs.advance(26 * 60 * MINUTE_MS);
  expect(await sweep('sweepShards')).toMatchObject({ looked: 1 });
  await runs.provider.endAll();
  await runs.driveJob(runId);
  await runs.untilWaiting(runId);
  expect(await sweep('sweepShards')).toMatchObject({ looked: 0 });
  expect(await sweep('sweepMoney')).toEqual(NONE);
});
