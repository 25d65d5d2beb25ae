import { afterAll, beforeAll, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Caller, type JobAnswer, type ResultRow, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { attemptTokens, batchesOf, batchOf, openai, prompts } from '../../harness/provider-side.ts';
import { lockRows, type RowLock } from '../../harness/row-lock.ts';
import { soundEnd } from '../../harness/sound-end.ts';
import { type GatewayProcess, GatewayStack } from '../../harness/stack.ts';

const AN_HOUR_MS = 3_600_000;

let gateway: TestGateway;
let stack: GatewayStack;
let caller: Caller;
let frozen: GatewayProcess;
const locks: RowLock[] = [];

beforeAll(async () => {
  gateway = await startGateway({ workers: false });
  stack = GatewayStack.of(gateway);
  caller = (await gateway.newTenant()).caller;
  frozen = await stack.startWorker();
}, 120_000);

afterAll(async () => {
  await Promise.all(locks.map((lock) => lock.release()));
  await stack.stop();
  await gateway.stop();
});

interface Ended {
  readonly job: JobAnswer;
  readonly rows: ResultRow[];
}

/** The worker's download of the job's results stands still in the middle. */
async function stopInDownload(): Promise<string> {
  await gateway.simulator.faults(openai('files.content', { stall: { after_bytes: 50_000, ms: AN_HOUR_MS } }));
  const jobId = await caller.submitPrompts(prompts(400));
  await eventually(async () =>
    (await gateway.simulator.journal({ route: 'files.content' })).some(
      (entry) => entry.fault && entry.ended_at === null,
    ),
  );
  return jobId;
}

/** The worker stands still before the provider answers its create, whose right to be sent it has taken. */
async function stopBetweenTakingAndSending(): Promise<{ jobId: string; lock: RowLock }> {
  const { db } = gateway.database;
  await gateway.simulator.faults(openai('files.create', { delay_ms: 1_000 }));
  const jobId = await caller.submitPrompts(prompts(5));
  await eventually(async () =>
    (await gateway.simulator.journal({ route: 'files.create' })).some(
      (entry) => entry.fault && entry.ended_at === null,
    ),
  );
  const lock = await lockRows(db, 'SELECT FROM batch_jobs WHERE job_id = $1 FOR UPDATE', [toUuid('job', jobId)]);
  locks.push(lock);
  await eventually(async () => {
    const { rowCount } = await db.pool.query(
      'SELECT FROM batch_provider_metadata WHERE job_id = $1 AND create_started_at IS NOT NULL',
      [toUuid('job', jobId)],
    );
    return rowCount === 1 && (await lock.isWantedBySomeone());
  });
  return { jobId, lock };
}

/** The worker stands still in the transaction that settles, whose first lock it has. */
async function stopInSettlement(): Promise<{ jobId: string; lock: RowLock }> {
  const { db } = gateway.database;
  await gateway.simulator.faults(openai('batches.create', { stuck: { state: 'in_progress', finished: 0 } }));
  const jobId = await caller.submitPrompts(prompts(50));
  const batch = await batchOf(gateway, jobId);
  const sql = 'SELECT FROM batch_items WHERE job_id = $1 AND item_no = 25 FOR UPDATE';
  const lock = await lockRows(db, sql, [toUuid('job', jobId)]);
  locks.push(lock);
  await gateway.simulator.batch(batch.id, { stuck: null });
  await eventually(() => lock.isWantedBySomeone());
  return { jobId, lock };
}

/** What another worker makes of the jobs must still stand after the frozen one has thawed and done its worst. */
test('Q-01: a worker frozen beyond all timeouts changes nothing once it thaws', { timeout: 400_000 }, async () => {
  const downloading = await stopInDownload();
  const taken = await stopBetweenTakingAndSending();
  const settling = await stopInSettlement();
  frozen.signal('SIGSTOP');
  // The frozen process now holds the rows itself, in transactions that only the server can end.
  await taken.lock.release();
  await settling.lock.release();
  await stack.startWorker();
  const jobIds = [downloading, taken.jobId, settling.jobId];
  const before: Ended[] = [];
  for (const jobId of jobIds) {
    await caller.ended(jobId, 200_000);
    before.push(await soundEnd(gateway, caller, jobId));
  }
  expect(before.map(({ job }) => job)).toMatchObject([
    { status: 'completed', counts: { completed: 400 } },
    { status: 'completed', counts: { completed: 5 } },
    { status: 'completed', counts: { completed: 50 } },
  ]);
  const [create, journalled] = [await attemptTokens(gateway, taken.jobId), await gateway.simulator.journal()];

  const logged = (await frozen.log()).length;
  frozen.signal('SIGCONT');
  await gateway.simulator.advance(AN_HOUR_MS);
  // What it was at has been another's for long: the server tells it so, and the cut download fails.
  await eventually(
    async () => /already completed|"activityType":"ingestAttempt"/.test((await frozen.log()).slice(logged)),
    { timeoutMs: 60_000 },
  );
  const late = await caller.submitPrompts(prompts(2));
  await soundEnd(gateway, caller, late);
  for (const [index, jobId] of jobIds.entries()) {
    expect(await soundEnd(gateway, caller, jobId)).toEqual(before[index]);
  }
  expect(create).toHaveLength(2);
  expect(await batchesOf(gateway, taken.jobId)).toHaveLength(1);
  expect((await caller.budget()).held).toBe('0.00');
  const lateCreates = (await gateway.simulator.journal({ route: 'batches.create' })).filter(
    ({ seq }) => seq > (journalled.at(-1)?.seq ?? 0),
  );
  expect(lateCreates).toHaveLength(1);
});
