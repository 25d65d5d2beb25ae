import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createJobActivities } from '../../../activities/job.ts';
import { createScheduleActivities } from '../../../activities/schedules/create-schedule-activities.ts';
import type { ScheduleDependencies } from '../../../activities/schedules/dependencies.ts';
import { createKey } from '../../../db/api-keys.ts';
import { insertSchedule, type ScheduleRow } from '../../../db/batch-schedules.ts';
import { newId } from '../../../db/ids.ts';
import { findJob } from '../../../db/jobs.ts';
import type { OpenJob } from '../../../db/open-jobs.ts';
import { findRun } from '../../../db/schedule-runs.ts';
import { insertSecret } from '../../../db/webhook-secrets.ts';
import { IDLE_WORKFLOWS, runActivity, testDependencies } from '../../harness/activities.ts';
import { insertJob, insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';
import { TEST_FETCH_HOSTS, testIntake } from '../../harness/test-intake.ts';

let database: TestDatabase;
let itemsUrl: string;
let status = 200;
const server = createServer((_request, response) => {
  response.writeHead(status);
  response.end(status === 200 ? lines('one', 'two') : 'away');
});
beforeAll(async () => {
  database = await createTestDatabase();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  itemsUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/items`;
});
afterAll(async () => {
  server.close();
  await database.drop();
});

function lines(...ids: string[]): string {
  const request = { messages: [{ role: 'user', content: 'hello' }], max_tokens: 20 };
  return ids.map((custom_id) => `${JSON.stringify({ custom_id, request })}\n`).join('');
}

const NOW = new Date();

/** A schedule of a new tenant and its activities, over workflows that only note what they were asked for. */
async function newSchedule(change: Partial<ScheduleRow> = {}, more: Partial<ScheduleDependencies> = {}) {
  const { db } = database;
  const tenant = await insertTenant(db);
  const { keyId } = await createKey(db.pool, { role: 'tenant_admin', name: 'test', tenantId: tenant.tenantId });
  const row: ScheduleRow = {
    scheduleId: newId('schedule'),
    tenantId: tenant.tenantId,
    projectId: null,
    customerId: null,
    apiKeyId: keyId,
    name: 'nightly',
    timing: { cron: '0 2 * * *' },
    job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', name: 'nightly enrichment' },
    items: { items_url: itemsUrl },
    submits: true,
    overlap: 'skip',
    deadlineAfterSeconds: null,
    pausedAt: null,
    createdAt: NOW,
    updatedAt: NOW,
    ...change,
  };
  await insertSchedule(db.pool, row);
  const started: OpenJob[] = [];
  const removed: string[] = [];
  const workflows = {
    ...IDLE_WORKFLOWS,
    start: async (job: OpenJob) => {
      started.push(job);
      return true;
    },
  };
  const activities = createScheduleActivities({
    ...testDependencies(db, { workflows }),
    intake: testIntake(),
    allowedFetchHosts: TEST_FETCH_HOSTS,
    clock: {
      restore: async () => true,
      listIds: async () => new Set(),
      remove: async (id) => {
        removed.push(id);
      },
    },
    ...more,
  });
  const firingAt = (time: Date) => ({
    scheduleId: row.scheduleId,
    firing: `scheduled-job/${row.scheduleId}-${time.toISOString()}`,
    scheduledFor: time.toISOString(),
  });
  return { row, tenant, keyId, started, removed, activities, firing: firingAt(NOW), firingAt };
}

type Made = Awaited<ReturnType<typeof newSchedule>>;

const runOf = ({ firing }: Made) => findRun(database.db.pool, firing.scheduleId, firing.firing);

async function jobsOf({ tenant }: Made): Promise<string[]> {
  const { rows } = await database.db.pool.query<{ state: string }>(
    'SELECT state FROM batch_jobs WHERE tenant_id = $1 ORDER BY created_at',
    [tenant.tenantId],
  );
  return rows.map(({ state }) => state);
}

async function failureEvents({ tenant }: Made) {
  const { rows } = await database.db.pool.query<{ data: Record<string, unknown> }>(
    `SELECT data FROM events WHERE tenant_id = $1 AND type = 'batch_schedule.run_failed'`,
    [tenant.tenantId],
  );
  return rows.map(({ data }) => data);
}

/** Begins, fills and submits, each twice, as after an answer that was lost. */
async function fireTwice({ activities, firing }: Made) {
  const steps = [];
  for (const activity of ['beginRun', 'fillJob', 'submitRun'] as const) {
    await runActivity(activities[activity], firing);
    steps.push(await runActivity(activities[activity], firing));
  }
  return steps;
}

test('a firing makes one job with the items of the URL and submits it, however often each step is repeated', async () => {
  const made = await newSchedule();
  expect(await fireTwice(made)).toEqual([{ kind: 'go_on' }, { kind: 'go_on' }, { kind: 'go_on' }]);
  expect(await jobsOf(made)).toEqual(['validating']);
  const run = await runOf(made);
  const job = await findJob(database.db.pool, null, run?.jobId ?? '');
  expect(job).toMatchObject({ itemCount: 2, submissionNo: 1, name: 'nightly enrichment', apiKeyId: made.keyId });
  expect(made.started.map(({ jobId, submissionNo }) => [jobId, submissionNo])).toEqual([
    [run?.jobId, 1],
    [run?.jobId, 1],
  ]);
  const { admitJob } = createJobActivities(testDependencies(database.db));
  await runActivity(admitJob, { jobId: run?.jobId ?? '', submissionNo: 1 });
  expect(await runActivity(made.activities.submitRun, made.firing)).toEqual({ kind: 'over', outcome: 'submitted' });
  expect(await runOf(made)).toMatchObject({ outcome: 'submitted', error: null });
});

test('a job of a schedule keeps as little as its template, its tenant by then, and the job it copies', async () => {
  const { db } = database;
  const storageOfJob = async (made: Made) =>
    (await findJob(db.pool, null, (await runOf(made))?.jobId ?? ''))?.terms.storage;
  const asked = await newSchedule({
    job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', storage: 'normalized' },
  });
  await runActivity(asked.activities.beginRun, asked.firing);
  expect(await storageOfJob(asked)).toBe('normalized');
  await db.pool.query(`UPDATE tenants SET policy = '{"storage": "pointers"}' WHERE tenant_id = $1`, [
    asked.tenant.tenantId,
  ]);
  const later = asked.firingAt(new Date(NOW.getTime() + 60_000));
  await db.pool.query("UPDATE batch_schedule_runs SET outcome = 'created', ended_at = now()");
  await runActivity(asked.activities.beginRun, later);
  expect(await storageOfJob({ ...asked, firing: later })).toBe('pointers');
  const copying = await newSchedule();
  const source = await insertJob(db, copying.tenant, { items: 2, state: 'draft' });
  await db.pool.query("UPDATE batch_jobs SET storage = 'hashes' WHERE job_id = $1", [source.key.uuid]);
  await db.pool.query('UPDATE batch_schedules SET items = $2 WHERE schedule_id = $1', [
    copying.row.scheduleId,
    JSON.stringify({ manifest_of_job: source.jobId }),
  ]);
  await runActivity(copying.activities.beginRun, copying.firing);
  expect(await storageOfJob(copying)).toBe('hashes');
});

test('two firings make two jobs where they may overlap, and one where they may not', async () => {
  const allowing = await newSchedule({ overlap: 'allow' });
  const skipping = await newSchedule({ overlap: 'skip' });
  const later = new Date(NOW.getTime() + 60_000);
  for (const made of [allowing, skipping]) {
    await fireTwice(made);
    await runActivity(made.activities.beginRun, made.firingAt(later));
  }
  expect(await jobsOf(allowing)).toHaveLength(2);
  expect(await jobsOf(skipping)).toHaveLength(1);
  const skipped = skipping.firingAt(later);
  expect(await findRun(database.db.pool, skipped.scheduleId, skipped.firing)).toMatchObject({
    outcome: 'skipped',
    jobId: null,
  });
});

test('two beginnings of one firing at once make one job', async () => {
  const made = await newSchedule({ overlap: 'allow' });
  await Promise.all([1, 2, 3].map(() => runActivity(made.activities.beginRun, made.firing)));
  expect(await jobsOf(made)).toEqual(['draft']);
});

test('a firing of a tenant at its cap of drafts, or one that would go beyond its items, fails and says so', async () => {
  const { db } = database;
  const capped = async (policy: string) => {
    const made = await newSchedule();
    await insertJob(db, made.tenant);
    await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [made.tenant.tenantId, policy]);
    const begun = await runActivity(made.activities.beginRun, made.firing);
    if (begun.kind === 'go_on') await runActivity(made.activities.fillJob, made.firing);
    return runOf(made);
  };
  for (const policy of ['{"max_drafts": 1}', '{"max_open_items": 1}']) {
    expect(await capped(policy)).toMatchObject({ outcome: 'failed', error: { code: 'quota_exceeded' } });
  }
});

test('a schedule that does not submit leaves a draft', async () => {
  const made = await newSchedule({ submits: false });
  await runActivity(made.activities.beginRun, made.firing);
  expect(await runActivity(made.activities.fillJob, made.firing)).toEqual({ kind: 'over', outcome: 'created' });
  expect(await jobsOf(made)).toEqual(['draft']);
});

test('the manifest of another job is copied, with what is merged under its items', async () => {
  const { db } = database;
  const made = await newSchedule();
  const source = await insertJob(db, made.tenant, { items: 7, state: 'draft' });
  await db.pool.query('UPDATE batch_jobs SET request_defaults = $2 WHERE job_id = $1', [source.key.uuid, '{"n":1}']);
  await db.pool.query('UPDATE batch_schedules SET items = $2 WHERE schedule_id = $1', [
    made.row.scheduleId,
    JSON.stringify({ manifest_of_job: source.jobId }),
  ]);
  await fireTwice(made);
  const copy = await findJob(db.pool, null, (await runOf(made))?.jobId ?? '');
  expect(copy?.itemCount).toBe(7);
  const rowsOf = async (uuid: string) =>
    (
      await db.pool.query(
        `SELECT i.item_no, i.custom_id, i.request_hash, i.estimated_tokens, r.body FROM batch_items i
         JOIN item_requests r USING (bucket, job_id, item_no) WHERE job_id = $1 ORDER BY item_no`,
        [uuid],
      )
    ).rows;
  expect(await rowsOf(copy?.uuid ?? '')).toEqual(await rowsOf(source.key.uuid));
  const { rows } = await db.pool.query('SELECT request_defaults FROM batch_jobs WHERE job_id = $1', [copy?.uuid]);
  expect(rows).toEqual([{ request_defaults: '{"n":1}' }]);
});

test('a copy of items whose job is gone, foreign or of another endpoint fails the run', async () => {
  const foreign = await insertJob(database.db, await insertTenant(database.db));
  for (const [sourceId, code] of [
    [newId('job'), 'not_found'],
    [foreign.jobId, 'not_found'],
  ] as const) {
    const made = await newSchedule({ items: { manifest_of_job: sourceId } });
    await runActivity(made.activities.beginRun, made.firing);
    await runActivity(made.activities.fillJob, made.firing);
    expect(await runOf(made)).toMatchObject({ outcome: 'failed', error: { code } });
  }
  const made = await newSchedule();
  const other = await insertJob(database.db, made.tenant, { endpoint: 'embeddings', state: 'draft' });
  await database.db.pool.query('UPDATE batch_schedules SET items = $2 WHERE schedule_id = $1', [
    made.row.scheduleId,
    JSON.stringify({ manifest_of_job: other.jobId }),
  ]);
  await runActivity(made.activities.beginRun, made.firing);
  await runActivity(made.activities.fillJob, made.firing);
  expect(await runOf(made)).toMatchObject({ outcome: 'failed', error: { code: 'conflict' } });
});

test('a URL that is away is asked again, and a run given up is recorded and told; the next goes on', async () => {
  const made = await newSchedule();
  await runActivity(made.activities.beginRun, made.firing);
  status = 503;
  const message = 'The URL answered with status 503.';
  try {
    await expect(runActivity(made.activities.fillJob, made.firing)).rejects.toMatchObject({
      type: 'items_unavailable',
      message,
    });
  } finally {
    status = 200;
  }
  const error = { code: 'items_unavailable', message };
  await runActivity(made.activities.endRun, { ...made.firing, outcome: 'failed', error });
  expect(await runOf(made)).toMatchObject({ outcome: 'failed', error });
  expect(await failureEvents(made)).toMatchObject([
    { schedule_id: made.row.scheduleId, code: 'items_unavailable', scheduled_for: made.firing.scheduledFor },
  ]);
  expect(await runActivity(made.activities.beginRun, made.firingAt(new Date(NOW.getTime() + 1_000)))).toEqual({
    kind: 'go_on',
  });
});

test('a URL that leads to a private address ends the run at once', async () => {
  const made = await newSchedule({ items: { items_url: 'https://127.0.0.1/items' } }, { allowedFetchHosts: new Set() });
  await runActivity(made.activities.beginRun, made.firing);
  expect(await runActivity(made.activities.fillJob, made.firing)).toEqual({ kind: 'over', outcome: 'failed' });
  expect((await runOf(made))?.error?.code).toBe('items_unavailable');
});

test('a submit that is refused is the run’s failure, and its draft stays', async () => {
  const made = await newSchedule({
    job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', max_cost: '0.000000001' },
  });
  await fireTwice(made);
  const run = await runOf(made);
  const { admitJob } = createJobActivities(testDependencies(database.db));
  await runActivity(admitJob, { jobId: run?.jobId ?? '', submissionNo: 1 });
  expect(await runActivity(made.activities.submitRun, made.firing)).toEqual({ kind: 'over', outcome: 'failed' });
  expect((await runOf(made))?.error?.code).toBe('max_cost_exceeded');
  expect(await jobsOf(made)).toEqual(['draft']);
});

test('a key that was taken away makes no more jobs', async () => {
  const made = await newSchedule();
  await database.db.pool.query('UPDATE api_keys SET revoked_at = now() WHERE key_id = $1', [made.keyId]);
  expect(await runActivity(made.activities.beginRun, made.firing)).toEqual({ kind: 'over', outcome: 'failed' });
  expect(await runOf(made)).toMatchObject({ jobId: null, error: { code: 'forbidden' } });
  expect(await jobsOf(made)).toEqual([]);
});

test('a schedule of a suspended tenant makes nothing, and its run says why', async () => {
  const made = await newSchedule();
  await database.db.pool.query(
    "UPDATE tenants SET suspended_at = now(), suspension_reason = 'an unpaid bill' WHERE tenant_id = $1",
    [made.row.tenantId],
  );
  await runActivity(made.activities.beginRun, made.firing);
  const message = expect.stringContaining('an unpaid bill');
  expect(await runOf(made)).toMatchObject({ jobId: null, error: { code: 'tenant_suspended', message } });
  expect(await jobsOf(made)).toEqual([]);
});

test('the deadline of each job counts from the time it was scheduled for', async () => {
  const made = await newSchedule({ deadlineAfterSeconds: 3_600 });
  await runActivity(made.activities.beginRun, made.firing);
  const job = await findJob(database.db.pool, null, (await runOf(made))?.jobId ?? '');
  expect(job?.deadline).toEqual(new Date(NOW.getTime() + 3_600_000));
  const late = made.firingAt(new Date(NOW.getTime() - 2 * 3_600_000));
  await database.db.pool.query(`UPDATE batch_jobs SET state = 'completed' WHERE job_id = $1`, [job?.uuid]);
  await database.db.pool.query(
    `UPDATE batch_schedule_runs SET outcome = 'created', ended_at = now() WHERE schedule_id = $1`,
    [made.row.scheduleId],
  );
  await runActivity(made.activities.beginRun, late);
  expect(await findRun(database.db.pool, late.scheduleId, late.firing)).toMatchObject({
    outcome: 'failed',
    error: { code: 'deadline_passed' },
  });
});

test('a schedule that is gone fires no more', async () => {
  const made = await newSchedule();
  await database.db.pool.query('UPDATE batch_schedules SET deleted_at = now() WHERE schedule_id = $1', [
    made.row.scheduleId,
  ]);
  expect(await runActivity(made.activities.beginRun, made.firing)).toEqual({ kind: 'over', outcome: 'gone' });
  expect(made.removed).toEqual([made.row.scheduleId]);
});

test('schedules that Temporal lacks are created there again', async () => {
  const restored: string[] = [];
  const clock = {
    restore: async ({ scheduleId }: ScheduleRow) => {
      restored.push(scheduleId);
      return true;
    },
    remove: async () => undefined,
  };
  const known = await newSchedule();
  const made = await newSchedule({}, { clock: { ...clock, listIds: async () => new Set([known.row.scheduleId]) } });
  await runActivity(made.activities.restoreSchedules as (input: undefined) => Promise<unknown>, undefined);
  expect(restored).toContain(made.row.scheduleId);
  expect(restored).not.toContain(known.row.scheduleId);
});

test('each job has the webhook of its template, once there is a secret to sign it with', async () => {
  const webhook = { url: 'https://hooks.example.com/' };
  const made = await newSchedule({ job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', webhook } });
  await runActivity(made.activities.beginRun, made.firing);
  expect(await runOf(made)).toMatchObject({ jobId: null, error: { code: 'webhook_secret_missing' } });
  const { pool } = database.db;
  const { tenantId } = made.row;
  const secret = { secretId: newId('webhookSecret'), sealed: Buffer.from('x'), createdAt: NOW, endpointId: null };
  await insertSecret(pool, { tenantId, projectId: null, customerId: null }, secret);
  const later = made.firingAt(new Date(NOW.getTime() + 60_000));
  await runActivity(made.activities.beginRun, later);
  const run = await findRun(pool, later.scheduleId, later.firing);
  const { rows } = await pool.query('SELECT url FROM direct_webhooks WHERE subject_id = $1', [run?.jobId]);
  expect(rows).toEqual([{ url: webhook.url }]);
});
