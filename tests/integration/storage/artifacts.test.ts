import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createFolderStore } from '../../../artifacts/folder-store.ts';
import { createSealedStore } from '../../../artifacts/sealed-store.ts';
import { type ArtifactStore, ArtifactStoreError } from '../../../artifacts/store.ts';
import { TEST_CIPHER } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { ReplyProvider } from '../../harness/reply-provider.ts';
import { type EndedJob, endJob, startJob } from './ended-job.ts';

const { db, drop } = await createTestDatabase();
const folder = mkdtempSync(path.join(tmpdir(), 'batchgate-kept-'));
afterAll(async () => {
  await drop();
  rmSync(folder, { recursive: true });
});

const store = createSealedStore(createFolderStore(folder), TEST_CIPHER);

async function bytesOf(provider: ReplyProvider, { batchId }: EndedJob): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(provider.downloadFile({ file: { fileId: batchId } })));
}

function away(fault: Partial<ArtifactStore> = {}): ArtifactStore {
  const refuse = async (): Promise<never> => {
    throw new ArtifactStoreError('unavailable', 'away');
  };
  return { put: refuse, get: refuse, has: refuse, delete: refuse, list: store.list, ...fault };
}

async function storageOf(job: EndedJob, artifacts: ArtifactStore | null = store) {
  const caller = await createTestApi(db, { artifacts }).caller('tenant_admin', { tenantId: job.tenantId });
  return (await caller.get(`/v1/batch-jobs/${job.jobId}/storage`)).json;
}

test('the provider’s files of a raw job are kept as they came, seen by its tenant and read by operators', async () => {
  const provider = new ReplyProvider();
  const job = await endJob(db, provider, 'raw', { artifacts: store, failing: [2] });
  const sent = await bytesOf(provider, job);
  expect(await storageOf(job)).toMatchObject({
    raw_output_stored: true,
    raw_output_note: null,
    artifact_location: `jobs/${job.jobId}/`,
    kept: expect.arrayContaining([
      expect.objectContaining({ kind: 'artifacts', held_by: 'gateway', deleted_at: null }),
    ]),
  });
  const operator = await createTestApi(db, { artifacts: store }).caller('operator');
  const artifacts = `/v1/operator/jobs/${job.jobId}/artifacts`;
  const { json } = await operator.get(`${artifacts}?limit=1`);
  expect(json).toEqual({
    data: [
      {
        ...{ shard: 1, attempt: 1, file: 1, kind: 'output', state: 'stored', deleted_at: null },
        key: `jobs/${job.jobId}/1/1/1.jsonl.zst`,
        bytes: sent.length,
        stored_bytes: expect.any(Number),
        sha256: `sha256:${hash('sha256', sent)}`,
        stored_at: expect.any(String),
      },
    ],
    next_cursor: null,
  });
  expect((await operator.get(`${artifacts}/1/1/1`)).text).toBe(sent.toString());
  const { rows } = await db.pool.query("SELECT tenant_id, details FROM audit_log WHERE act = 'operator.artifact_read'");
  expect(rows).toEqual([{ tenant_id: job.tenantId, details: { shard: 1, attempt: 1, file: 1 } }]);
  for (const other of ['/1/1/2', '/x/1/1', '/9/9/9']) {
    expect(await operator.get(`${artifacts}${other}`)).toMatchObject({ status: 404, json: { error: 'not_found' } });
  }
  const gone = await createTestApi(db, { artifacts: away() }).caller('operator');
  expect(await gone.get(`${artifacts}/1/1/1`)).toMatchObject({ status: 503 });
  const tenant = await createTestApi(db, { artifacts: store }).caller('tenant_admin', { tenantId: job.tenantId });
  expect((await tenant.get(`${artifacts}/1/1/1`)).status).toBe(403);
});

test.each(['normalized', 'pointers', 'hashes'] as const)('of a %s job no file is kept', async (storage) => {
  const job = await endJob(db, new ReplyProvider(), storage, { artifacts: store });
  expect(await Array.fromAsync(store.list(`jobs/${job.jobId}/`))).toEqual([]);
  expect(await storageOf(job)).toMatchObject({ raw_output_stored: false, raw_output_note: 'policy' });
});

test('without a store results settle, and the job says that no file is kept', async () => {
  const job = await endJob(db, new ReplyProvider(), 'raw');
  expect(await storageOf(job, null)).toMatchObject({
    raw_output_stored: false,
    raw_output_note: 'none',
    artifact_location: null,
  });
});

test('a store that is away keeps no result from settling, and a re-ingest stores the file', async () => {
  const provider = new ReplyProvider();
  const kept: { store: ArtifactStore } = { store: away() };
  const switched: ArtifactStore = {
    put: (...given) => kept.store.put(...given),
    get: (...given) => kept.store.get(...given),
    has: (key) => kept.store.has(key),
    delete: (key) => kept.store.delete(key),
    list: (prefix) => kept.store.list(prefix),
  };
  const { shard, ...job } = await startJob(db, provider, 'raw', { artifacts: switched });
  await shard.close('batch_completed');
  const { rows } = await db.pool.query('SELECT completed FROM job_progress WHERE job_id = $1', [job.uuid]);
  expect(rows).toEqual([{ completed: 3 }]);
  expect(await storageOf(job)).toMatchObject({ raw_output_stored: false, raw_output_note: 'incomplete' });
  kept.store = store;
  await db.pool.query('UPDATE batch_shards SET reread_requested_at = now() WHERE job_id = $1', [job.uuid]);
  await shard.reread();
  expect(await storageOf(job)).toMatchObject({ raw_output_stored: true, raw_output_note: null });
  // A later reading that cannot be stored takes nothing from what is.
  kept.store = away();
  await db.pool.query('UPDATE batch_shards SET reread_requested_at = now() WHERE job_id = $1', [job.uuid]);
  await shard.reread();
  expect(await storageOf(job)).toMatchObject({ raw_output_stored: true });
});

test('a download that breaks off leaves no artifact; the one after it does', async () => {
  const provider = new ReplyProvider();
  let breaks = true;
  const whole = provider.downloadFile.bind(provider);
  provider.downloadFile = async function* (input) {
    yield* whole(input);
    if (breaks) throw new Error('the connection broke');
  };
  await expect(startJob(db, provider, 'raw', { artifacts: store })).rejects.toThrow('the connection broke');
  const { rows } = await db.pool.query<{ job_id: string }>(
    'SELECT job_id FROM batch_jobs ORDER BY created_at DESC LIMIT 1',
  );
  const left = await db.pool.query('SELECT 1 FROM artifacts WHERE job_id = $1', [rows[0]?.job_id]);
  expect(left.rowCount).toBe(0);
  breaks = false;
  const job = await endJob(db, provider, 'raw', { artifacts: store });
  expect(await storageOf(job)).toMatchObject({ raw_output_stored: true });
});

test('a DELETE takes the artifacts with it, and one that crashed in between is made up for', async () => {
  const job = await endJob(db, new ReplyProvider(), 'raw', { artifacts: store });
  // What a crash left, which no row knows.
  const content = async function* () {
    yield Buffer.from('x');
  };
  await store.put(`jobs/${job.jobId}/1/7/1.jsonl.zst`, content(), new AbortController().signal);
  const caller = await createTestApi(db, { artifacts: store }).caller('tenant_admin', { tenantId: job.tenantId });
  expect((await caller.call('DELETE', `/v1/batch-jobs/${job.jobId}`)).status).toBe(204);
  expect(await Array.fromAsync(store.list(`jobs/${job.jobId}/`))).toEqual([]);
  expect(await storageOf(job)).toMatchObject({
    raw_output_stored: false,
    raw_output_note: 'deleted',
    artifact_location: null,
  });
  const { rows } = await db.pool.query(
    `SELECT removal_due_at, (SELECT bool_and(deleted_at IS NOT NULL AND sha256 IS NOT NULL) FROM artifacts a WHERE a.job_id = j.job_id) AS gone
     FROM batch_jobs j WHERE job_id = $1`,
    [job.uuid],
  );
  expect(rows).toEqual([{ removal_due_at: null, gone: true }]);
});

test('a file that is read again while its job is deleted is not kept', async () => {
  const provider = new ReplyProvider();
  const { shard, ...job } = await startJob(db, provider, 'raw', { artifacts: store });
  await shard.close('batch_completed');
  await db.pool.query(
    `UPDATE batch_jobs SET state = 'completed', completed_at = now(), content_deleted_at = now() WHERE job_id = $1`,
    [job.uuid],
  );
  await store.delete(`jobs/${job.jobId}/1/1/1.jsonl.zst`);
  await db.pool.query('UPDATE batch_shards SET reread_requested_at = now() WHERE job_id = $1', [job.uuid]);
  await shard.reread();
  expect(await Array.fromAsync(store.list(`jobs/${job.jobId}/`))).toEqual([]);
  const { rows } = await db.pool.query('SELECT removal_due_at FROM batch_jobs WHERE job_id = $1', [job.uuid]);
  expect(rows).toEqual([{ removal_due_at: expect.any(Date) }]);
});
