import { afterAll, beforeAll, expect, test } from 'vitest';
import { getJobRow } from '../../db/job-rows.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import { batchJobStart } from '../../workflows/start-options.ts';
import { startEngine, type TestEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { insertJob, insertTenant } from '../harness/jobs.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

test('a job of several shards goes from submitted to completed and its money adds up', async () => {
  const { db } = engine.database;
  const tenant = await insertTenant(db);
  const job = await insertJob(db, tenant, { items: 25, maxItemsPerShard: 10 });
  await engine.client.workflow.execute('batchJob', {
    ...batchJobStart({ ...job, customerId: null, model: job.requestedModel }, { recover: false }),
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  const ended = await getJobRow(db.pool, job.jobId);
  expect(ended.state).toBe('completed');
  expect((await verifyLedger(db, { jobId: job.jobId })).differences).toEqual([]);
  const creates = await engine.simulator.journal({ route: 'batches.create' });
  expect(creates).toHaveLength(3);
  await eventually(async () => true);
});
