import { afterAll, beforeEach, expect, test } from 'vitest';
import { createMaintenanceActivities } from '../../../activities/maintenance.ts';
import { fixedAdapters } from '../../../providers/provider-adapters.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
import { refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { ReplyProvider } from '../../harness/reply-provider.ts';
import { endJob } from './ended-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let provider: ReplyProvider;
beforeEach(async () => {
  provider = new ReplyProvider();
  await db.pool.query('UPDATE batch_jobs SET provider_files_due_at = NULL');
});

const later = (ms: number) => new Date(Date.now() + ms);

async function tidy(now: Date): Promise<void> {
  const { tidyTables } = createMaintenanceActivities(testDependencies(db, { provider, now: () => now }));
  await runActivity(async (_: null) => tidyTables(), null);
}

async function row(uuid: string) {
  const { rows } = await db.pool.query<{ due: Date | null; deleted: Date | null }>(
    'SELECT provider_files_due_at AS due, provider_files_deleted_at AS deleted FROM batch_jobs WHERE job_id = $1',
    [uuid],
  );
  return rows[0];
}

test('the files of a hashes job are deleted at the provider once its window is over, once', async () => {
  const job = await endJob(db, provider, 'hashes');
  await tidy(later(DAY_MS - 60_000));
  expect(provider.deleted).toEqual([]);
  await tidy(later(DAY_MS + 60_000));
  expect(provider.deleted).toEqual([
    expect.objectContaining({ providerBatchId: job.batchId, inputFileId: expect.stringMatching(/^file-/) }),
  ]);
  expect(await row(job.uuid)).toEqual({ due: null, deleted: expect.any(Date) });
  await tidy(later(2 * DAY_MS));
  expect(provider.deleted).toHaveLength(1);
});

test('what was deleted there is not asked for any more, whatever the clock says', async () => {
  const job = await endJob(db, provider, 'hashes');
  await tidy(later(DAY_MS + 60_000));
  const providers = fixedAdapters(new Map([['openai', provider]]));
  const caller = await createTestApi(db, { providers }).caller('tenant_admin', { tenantId: job.tenantId });
  provider.downloads.length = 0;
  const { json } = await caller.get(`/v1/batch-jobs/${job.jobId}/results`);
  expect(json.data[0]).toMatchObject({ content: 'not_stored', result: null });
  expect(provider.downloads).toEqual([]);
  const { json: storage } = await caller.get(`/v1/batch-jobs/${job.jobId}/storage`);
  expect(storage.provider_files_deleted_at).toEqual(expect.any(String));
});

test.each(['raw', 'normalized', 'pointers'] as const)(
  'the files of a %s job stay unless the policy says otherwise',
  async (storage) => {
    const job = await endJob(db, provider, storage);
    await tidy(later(DAY_MS + 60_000));
    expect(provider.deleted).toEqual([]);
    expect(await row(job.uuid)).toEqual({ due: null, deleted: null });
  },
);

test('with delete_provider_files those of raw and normalized go after the end; those of pointers are needed', async () => {
  const jobs = new Map<string, Awaited<ReturnType<typeof endJob>>>();
  for (const storage of ['normalized', 'pointers'] as const) {
    jobs.set(storage, await endJob(db, provider, storage, { deletesProviderFiles: true }));
  }
  await tidy(later(1_000));
  expect(provider.deleted.map(({ providerBatchId }) => providerBatchId)).toEqual([jobs.get('normalized')?.batchId]);
});

test('a provider that refuses is asked again an hour later, until it has deleted them by itself', async () => {
  const job = await endJob(db, provider, 'hashes');
  const other = await endJob(db, provider, 'hashes');
  provider.onDelete = async () => {
    throw refusal('unavailable');
  };
  await tidy(later(DAY_MS + 60_000));
  expect(await row(job.uuid)).toMatchObject({ deleted: null });
  const { due } = (await row(job.uuid)) ?? {};
  expect(due?.getTime()).toBeGreaterThan(Date.now() + DAY_MS + HOUR_MS);
  provider.onDelete = async () => undefined;
  await tidy(later(DAY_MS + 2 * HOUR_MS));
  expect(await row(job.uuid)).toMatchObject({ due: null, deleted: expect.any(Date) });
  expect(await row(other.uuid)).toMatchObject({ due: null, deleted: expect.any(Date) });
  const last = await endJob(db, provider, 'hashes');
  provider.onDelete = async () => {
    throw refusal('credential_refused');
  };
  await tidy(later(60 * DAY_MS));
  expect(await row(last.uuid)).toMatchObject({ due: null, deleted: expect.any(Date) });
});

test('a deleted job that had its results at the provider alone is deleted there too', async () => {
  const job = await endJob(db, provider, 'pointers');
  const caller = await createTestApi(db).caller('tenant_admin', { tenantId: job.tenantId });
  expect((await caller.call('DELETE', `/v1/batch-jobs/${job.jobId}`)).status).toBe(204);
  await tidy(later(1_000));
  expect(provider.deleted.map(({ providerBatchId }) => providerBatchId)).toEqual([job.batchId]);
});

test('requests that an ended job has left behind are found and deleted', async () => {
  const job = await endJob(db, provider, 'pointers', { items: 3 });
  const { rows } = await db.pool.query<{ bucket: number }>('SELECT bucket FROM batch_jobs WHERE job_id = $1', [
    job.uuid,
  ]);
  await db.pool.query('INSERT INTO item_requests (bucket, job_id, item_no, body) VALUES ($1, $2, 3, $3)', [
    rows[0]?.bucket,
    job.uuid,
    '{}',
  ]);
  await db.pool.query(
    "UPDATE batch_jobs SET request_body_deleted_at = NULL, request_defaults = '{}' WHERE job_id = $1",
    [job.uuid],
  );
  await tidy(later(1_000));
  const left = await db.pool.query('SELECT 1 FROM item_requests WHERE job_id = $1', [job.uuid]);
  expect(left.rowCount).toBe(0);
  const after = await db.pool.query(
    'SELECT request_body_deleted_at, request_defaults FROM batch_jobs WHERE job_id = $1',
    [job.uuid],
  );
  expect(after.rows[0]).toEqual({ request_body_deleted_at: expect.any(Date), request_defaults: null });
});
