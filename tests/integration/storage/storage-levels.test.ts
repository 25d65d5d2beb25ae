import { afterAll, beforeEach, expect, test } from 'vitest';
import { getJobRow } from '../../../db/job-rows.ts';
import { STORAGE_POLICIES } from '../../../domain/tenant-policy.ts';
import { columnsWith } from '../../harness/columns-with.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { ReplyProvider } from '../../harness/reply-provider.ts';
import { endJob, reconcile, startJob } from './ended-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

let provider: ReplyProvider;
beforeEach(() => {
  provider = new ReplyProvider();
});

const KEPT = { requests: 4, defaults: true, bodies: 4, places: 0, native: 1, raw: true, words: true };
const HELD_BACK = { requests: 0, defaults: false, bodies: 0, places: 3, native: 0, raw: false, words: false };
const LAWS = { raw: KEPT, normalized: KEPT, pointers: HELD_BACK, hashes: HELD_BACK };

test.each(STORAGE_POLICIES)('what %s keeps of an ended job', async (storage) => {
  const { uuid, jobId } = await endJob(db, provider, storage, { items: 4, failing: [2] });
  const { key, terms } = await getJobRow(db.pool, jobId);
  const { rows } = await db.pool.query(
    `SELECT (SELECT count(*)::int FROM item_requests WHERE job_id = $1 AND bucket = $2) AS requests,
       j.request_defaults IS NOT NULL AS defaults, count(r.body)::int AS bodies, count(r.line)::int AS places, count(r.native_error)::int AS native,
       (SELECT max(length(raw)) > 0 FROM unmatched_lines WHERE job_id = $1) AS raw,
       (SELECT native_errors::text LIKE '%planted%' FROM batch_provider_metadata WHERE job_id = $1) AS words
     FROM batch_jobs j JOIN item_results r ON r.job_id = j.job_id AND r.bucket = j.bucket WHERE j.job_id = $1 GROUP BY j.job_id`,
    [uuid, key.bucket],
  );
  expect(terms.storage).toBe(storage);
  expect(rows[0]).toEqual(LAWS[storage]);
  // Hashes are kept whatever else is, and of a failed item too, whose answer had a body.
  const hashes = await db.pool.query(
    'SELECT count(i.request_hash)::int AS requests, count(o.response_hash)::int AS responses FROM batch_items i JOIN item_outcomes o USING (bucket, job_id, item_no) WHERE job_id = $1',
    [uuid],
  );
  expect(hashes.rows[0]).toEqual({ requests: 4, responses: 4 });
  // What went wrong is still told, in our words.
  const { rows: failures } = await db.pool.query(
    'SELECT error_message FROM item_results WHERE job_id = $1 AND error_message IS NOT NULL',
    [uuid],
  );
  expect(failures).toEqual([{ error_message: expect.not.stringContaining('planted') }]);
});

test.each(['pointers', 'hashes'] as const)(
  'nothing of the content of a %s job is in the database once it ended',
  async (storage) => {
    const planted = `planted-${storage}-7f3a`;
    const { uuid } = await endJob(db, provider, storage, { items: 4, failing: [2], planted });
    expect(await columnsWith(db, planted)).toEqual([]);
    const { rows } = await db.pool.query('SELECT request_body_deleted_at FROM batch_jobs WHERE job_id = $1', [uuid]);
    expect(rows[0]).toEqual({ request_body_deleted_at: expect.any(Date) });
  },
);

test('the search finds what is kept', async () => {
  await endJob(db, provider, 'raw', { items: 2, failing: [2], planted: 'planted-raw-7f3a' });
  const found = await columnsWith(db, 'planted-raw-7f3a');
  expect(found).toEqual(
    expect.arrayContaining([
      'batch_jobs.request_defaults',
      'batch_provider_metadata.native_errors',
      'unmatched_lines.raw',
      expect.stringMatching(/^item_requests_\d+\.body$/),
      expect.stringMatching(/^item_results_\d+\.body$/),
      expect.stringMatching(/^item_results_\d+\.native_error$/),
    ]),
  );
});

test('requests go with their shard where no wave can need them, and with their job where one may', async () => {
  const count = async (uuid: string) =>
    (await db.pool.query('SELECT 1 FROM item_requests WHERE job_id = $1', [uuid])).rowCount;
  const plain = await startJob(db, provider, 'pointers');
  expect(await count(plain.uuid)).toBe(3);
  await plain.shard.close('batch_completed');
  expect(await count(plain.uuid)).toBe(0);
  const retried = await startJob(db, provider, 'hashes');
  const policy = {
    max_attempts: 2,
    classes: ['missing_result'],
    backoff: { initial_seconds: 1, factor: 1, max_seconds: 1 },
  };
  await db.pool.query('UPDATE batch_jobs SET retry_policy = $2 WHERE job_id = $1', [
    retried.uuid,
    JSON.stringify(policy),
  ]);
  await retried.shard.close('batch_completed');
  expect(await count(retried.uuid)).toBe(3);
  await reconcile(db, retried.jobId);
  expect(await count(retried.uuid)).toBe(0);
});
