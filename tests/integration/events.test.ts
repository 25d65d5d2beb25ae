import { afterAll, expect, test } from 'vitest';
import { insertEvent, listEvents } from '../../db/events.ts';
import { newId, toUuid } from '../../db/ids.ts';
import { inTransaction } from '../../db/transaction.ts';
import { eventually } from '../harness/eventually.ts';
import { createTestDatabase } from '../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const tenantId = 'tenant_a';

function newJob(): string {
  return toUuid('job', newId('job')) ?? '';
}

function tell(jobId: string | null, type: string) {
  return inTransaction(db, (client) => insertEvent(client, { tenantId, jobId, type, data: { type } }));
}

test("lists a job's events in order, after a number, and no others", async () => {
  const job = newJob();
  const first = await tell(job, 'batch_job.queued');
  await tell(newJob(), 'batch_job.queued');
  await tell(null, 'budget.alert');
  const second = await tell(job, 'batch_job.running');
  expect(first).toEqual({
    eventNo: expect.any(Number),
    eventId: expect.stringMatching(/^evt_/),
    type: 'batch_job.queued',
    data: { type: 'batch_job.queued' },
    createdAt: expect.any(Date),
  });
  expect(await listEvents(db.pool, job, 0)).toEqual([first, second]);
  expect(await listEvents(db.pool, job, first.eventNo)).toEqual([second]);
  expect(await listEvents(db.pool, job, second.eventNo)).toEqual([]);
  expect(await listEvents(db.pool, job, 0, 1)).toEqual([first]);
});

test('an event whose transaction fails never was', async () => {
  const job = newJob();
  const failing = inTransaction(db, async (client) => {
    await insertEvent(client, { tenantId, jobId: job, type: 'x', data: {} });
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await listEvents(db.pool, job, 0)).toEqual([]);
});

test('a cursor passes no event by, because a later number waits for an earlier one to commit', async () => {
  const job = newJob();
  const mayCommit = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const slow = inTransaction(db, async (client) => {
    await insertEvent(client, { tenantId, jobId: job, type: 'slow', data: {} });
    written.resolve();
    await mayCommit.promise;
  });
  await written.promise;
  const quick = tell(job, 'quick');
  await eventually(async () => {
    const { rows } = await db.pool.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'",
    );
    return rows.length === 1;
  });
  expect(await listEvents(db.pool, job, 0)).toEqual([]);
  await tell(newJob(), 'of another job');
  mayCommit.resolve();
  await Promise.all([slow, quick]);
  expect((await listEvents(db.pool, job, 0)).map(({ type }) => type)).toEqual(['slow', 'quick']);
});
