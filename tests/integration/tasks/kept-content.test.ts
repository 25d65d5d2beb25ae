import { afterAll, beforeEach, expect, test } from 'vitest';
import { deleteDueContent } from '../../../activities/due-content.ts';
import { findTaskReply, replyContext } from '../../../db/task-replies.ts';
import { STORAGE_POLICIES, type StoragePolicy } from '../../../domain/tenant-policy.ts';
import { fixedAdapters } from '../../../providers/provider-adapters.ts';
import { runActivity } from '../../harness/activities.ts';
import { columnsWith } from '../../harness/columns-with.ts';
import { FakeProvider } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { TestTasks } from '../../harness/task-attempts.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const DAY_MS = 24 * 3_600_000;
const KEPT: readonly StoragePolicy[] = ['raw', 'normalized'];

let tasks: TestTasks;
let reply: string;
beforeEach(() => {
  const provider = new FakeProvider();
  provider.onComplete = async ({ model }) => ({
    kind: 'completed',
    body: reply,
    usage: { inputTokens: 10, outputTokens: 5 },
    model,
  });
  tasks = new TestTasks(db, { providers: fixedAdapters(new Map([['openai', provider]])) });
});

/** As the retention activity does. */
const tidy = () => runActivity(() => deleteDueContent(tasks.dependencies), undefined);

async function ended(storage: StoragePolicy, planted: string) {
  reply = JSON.stringify({
    choices: [{ message: { content: `${planted} reply` }, finish_reason: 'stop' }],
    model: 'm',
  });
  const tenant = await tasks.caller({ storage });
  const taskId = await tasks.create(tenant, { prompt: `${planted} prompt` });
  expect(await tasks.attempt(taskId)).toEqual({ kind: 'over', state: 'COMPLETED' });
  return { tenant, taskId };
}

test.each(STORAGE_POLICIES)('what %s keeps of a task that has ended', async (storage) => {
  const planted = `planted-${storage}-51c2`;
  const { tenant, taskId } = await ended(storage, planted);
  const { uuid } = await tasks.row(taskId);
  const { rows } = await db.pool.query(
    `SELECT (SELECT count(*)::int FROM item_requests WHERE job_id = $1) AS requests, count(r.body)::int AS bodies,
       (SELECT count(*)::int FROM task_replies WHERE job_id = $1) AS sealed, count(o.response_hash)::int AS hashes,
       (SELECT count(request_hash)::int FROM batch_items WHERE job_id = $1) AS request_hashes
     FROM item_outcomes o LEFT JOIN item_results r USING (bucket, job_id, item_no) WHERE o.job_id = $1`,
    [uuid],
  );
  const isKept = KEPT.includes(storage);
  const kept = isKept ? { requests: 1, bodies: 1, sealed: 0 } : { requests: 0, bodies: 0, sealed: 1 };
  expect(rows[0]).toEqual({ ...kept, hashes: 1, request_hashes: 1 });
  if (!isKept) expect(await columnsWith(db, planted)).toEqual([]);
  const shown = (await tenant.caller.get(`/v1/async/task/${taskId}`)).json;
  expect(shown).toMatchObject({ status: 'COMPLETED', response: { text: `${planted} reply` } });
});

test('a sealed reply is the very bytes, opens for its task alone, and goes after the read window', async () => {
  const { tenant, taskId } = await ended('hashes', 'planted-window-51c2');
  const sealed = await findTaskReply(db.pool, taskId, tasks.now());
  if (sealed === null) throw new Error('no reply is kept');
  const { cipher } = tasks.dependencies;
  expect((await cipher.open(sealed, replyContext(taskId))).toString()).toBe(reply);
  await expect(cipher.open(sealed, replyContext('task_other'))).rejects.toThrow();
  await tidy();
  expect(await findTaskReply(db.pool, taskId, tasks.now())).not.toBeNull();
  tasks.advance(DAY_MS + 1_000);
  expect(await findTaskReply(db.pool, taskId, tasks.now())).toBeNull();
  await tidy();
  expect((await db.pool.query('SELECT 1 FROM task_replies WHERE task_id = $1', [taskId])).rowCount).toBe(0);
  expect((await tenant.caller.get(`/v1/async/task/${taskId}`)).status).toBe(404);
});

test('a legal hold keeps a sealed reply, and a deletion of content takes it', async () => {
  const held = await ended('hashes', 'planted-held-51c2');
  await db.pool.query(
    "INSERT INTO legal_holds (hold_id, tenant_id, reason, set_by, set_at) VALUES ('hold_test', $1, 'case', 'key_test', now())",
    [held.tenant.tenantId],
  );
  const deleted = await ended('pointers', 'planted-deleted-51c2');
  const { uuid } = await tasks.row(deleted.taskId);
  await db.pool.query('UPDATE batch_jobs SET content_deleted_at = now(), removal_due_at = now() WHERE job_id = $1', [
    uuid,
  ]);
  await tidy();
  const count = async (taskId: string) =>
    (await db.pool.query('SELECT 1 FROM task_replies WHERE task_id = $1', [taskId])).rowCount;
  expect(await count(deleted.taskId)).toBe(0);
  tasks.advance(2 * DAY_MS);
  await tidy();
  expect(await count(held.taskId)).toBe(1);
});

test('the record of a task (ids, states, times, attempts, hashes, money) is permanent; its content follows the storage policy after the window', async () => {
  const planted = 'planted-permanent-51c2';
  const { tenant, taskId } = await ended('normalized', planted);
  const { uuid } = await tasks.row(taskId);
  const record = async () => ({
    task: await tasks.row(taskId),
    history: await tasks.history(taskId),
    money: await tasks.money(taskId),
    hashes: (
      await db.pool.query(
        `SELECT encode(i.request_hash, 'hex') AS request, encode(o.response_hash, 'hex') AS response
         FROM batch_items i JOIN item_outcomes o USING (bucket, job_id, item_no) WHERE i.job_id = $1`,
        [uuid],
      )
    ).rows,
  });
  const before = await record();
  expect(before.hashes).toEqual([
    { request: expect.stringMatching(/^\w{64}$/), response: expect.stringMatching(/^\w{64}$/) },
  ]);
  tasks.advance(DAY_MS + 1_000);
  await tidy();
  expect((await tenant.caller.get(`/v1/async/task/${taskId}`)).status).toBe(404);
  expect(await columnsWith(db, planted)).not.toEqual([]);
  tasks.advance(400 * DAY_MS);
  await tidy();
  expect(await columnsWith(db, planted)).toEqual([]);
  expect(await record()).toEqual(before);
});
