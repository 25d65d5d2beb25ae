import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { deleteDraftRows } from '../../../db/job-deletion.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { eventually } from '../../harness/eventually.ts';
import { createIntakeFixture, item, NOTHING_LEFT, ndjson, refusalOf } from './intake-fixture.ts';

let intake: Awaited<ReturnType<typeof createIntakeFixture>>;
let patient: Awaited<ReturnType<typeof createIntakeFixture>>;
beforeAll(async () => {
  intake = await createIntakeFixture({ lockTimeoutMs: 100 });
  patient = await createIntakeFixture({ lockTimeoutMs: 60_000 });
});
afterAll(async () => {
  await intake.close();
  await patient.close();
});

const items = (from: number, count: number, text?: string) =>
  Array.from({ length: count }, (_, index) => item(`i${String(from + index).padStart(6, '0')}`, text));

test('two appends with overlapping ids in opposite orders at once: one waits for the other, none deadlocks', async () => {
  const jobId = await patient.newJob();
  const stored = await Promise.all([
    patient.append(jobId, ndjson(items(0, 6000))),
    patient.append(jobId, ndjson(items(3000, 6000).toReversed())),
  ]);
  expect(stored.map(({ accepted, duplicates }) => accepted + duplicates)).toEqual([6000, 6000]);
  expect(stored[0].accepted + stored[1].accepted).toBe(9000);
  const rows = await patient.rows(jobId);
  expect(rows.map((row) => row.item_no)).toEqual(Array.from({ length: 9000 }, (_, index) => index + 1));
  expect(new Set(rows.map((row) => row.custom_id)).size).toBe(9000);
  const { rows: deadlocks } = await patient.db.pool.query(
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  );
  expect(deadlocks).toEqual([{ deadlocks: 0 }]);
});

test('of two appends with conflicting content one is stored and one is refused', async () => {
  const jobId = await patient.newJob();
  const outcomes = await Promise.allSettled([
    patient.append(jobId, ndjson(items(0, 3000, 'one'))),
    patient.append(jobId, ndjson(items(2000, 3000, 'two').toReversed())),
  ]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const refused = outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
  expect(refused).toMatchObject({ code: 'item_conflict', detailsCount: 1000 });
  expect((await patient.job(jobId))?.itemCount).toBe(3000);
});

test('many appends at once are all stored, under numbers without a gap', async () => {
  const jobId = await patient.newJob();
  await Promise.all(Array.from({ length: 12 }, (_, call) => patient.append(jobId, ndjson(items(call * 100, 100)))));
  const rows = await patient.rows(jobId);
  expect(rows.map((row) => row.item_no)).toEqual(Array.from({ length: 1200 }, (_, index) => index + 1));
});

test('an append to a job that another transaction holds is told to try again, and stores nothing', async () => {
  const jobId = await intake.newJob();
  const client = await intake.db.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query("UPDATE batch_jobs SET state = 'validating' WHERE job_id = $1", [toUuid('job', jobId)]);
    const busy = await refusalOf(intake.append(jobId, ndjson([item('a')])));
    expect(busy).toMatchObject({ code: 'job_busy', retryAfterSeconds: 1 });
    await client.query('COMMIT');
  } finally {
    client.release();
  }
  expect(await refusalOf(intake.append(jobId, ndjson([item('a')])))).toMatchObject({
    code: 'job_not_draft',
    message: expect.stringContaining('validating'),
  });
  expect(await intake.rows(jobId)).toEqual([]);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('an append whose body ends after the job was submitted stores nothing', async () => {
  const jobId = await intake.newJob();
  const body = new Readable({ read() {} });
  body.push(ndjson([item('a')]));
  const refused = refusalOf(intake.append(jobId, body));
  await eventually(() => body.readableLength === 0);
  await intake.db.pool.query("UPDATE batch_jobs SET state = 'validating' WHERE job_id = $1", [toUuid('job', jobId)]);
  body.push(ndjson([item('b')]));
  body.push(null);
  expect(await refused).toMatchObject({ code: 'job_not_draft' });
  expect(await intake.rows(jobId)).toEqual([]);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('an append whose job is deleted meanwhile finds none', async () => {
  const jobId = await intake.newJob();
  const { rows } = await intake.db.pool.query<{ uuid: string; bucket: number }>(
    'SELECT job_id AS uuid, bucket FROM batch_jobs WHERE job_id = $1',
    [toUuid('job', jobId)],
  );
  const body = new Readable({ read() {} });
  body.push(ndjson([item('a')]));
  const refused = refusalOf(intake.append(jobId, body));
  await eventually(() => body.readableLength === 0);
  await inTransaction(intake.db, (client) => deleteDraftRows(client, rows[0] ?? { uuid: '', bucket: 0 }));
  body.push(null);
  expect(await refused).toMatchObject({ code: 'not_found' });
  expect(await intake.rows(jobId)).toEqual([]);
});

test('a client that goes away in the middle of its body leaves nothing: no row, no file, no transaction', async () => {
  const jobId = await intake.newJob();
  const body = new Readable({ read() {} });
  body.push(ndjson(items(0, 30_000)));
  const refused = refusalOf(intake.replace(jobId, body));
  await eventually(() => intake.space.usedBytes > 1_000_000);
  expect(intake.db.pool.totalCount - intake.db.pool.idleCount).toBe(0);
  body.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  expect(await refused).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('broke off') });
  expect(await intake.rows(jobId)).toEqual([]);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('a server that fails in the middle of a COPY leaves nothing, and the call can be repeated', async () => {
  const jobId = await intake.newJob();
  const { rows } = await intake.db.pool.query<{ bucket: number }>('SELECT bucket FROM batch_jobs WHERE job_id = $1', [
    toUuid('job', jobId),
  ]);
  const leaf = `item_requests_${rows[0]?.bucket}`;
  await intake.db.pool.query(`ALTER TABLE ${leaf} ADD CONSTRAINT planted CHECK (item_no <> 15000) NOT VALID`);
  await expect(intake.append(jobId, ndjson(items(0, 20_000)))).rejects.toThrow('planted');
  await intake.db.pool.query(`ALTER TABLE ${leaf} DROP CONSTRAINT planted`);
  expect(await intake.rows(jobId)).toEqual([]);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
  expect(await intake.append(jobId, ndjson(items(0, 20_000)))).toMatchObject({ accepted: 20_000 });
});
