import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMaintenanceActivities } from '../../activities/maintenance.ts';
import { listSentAttempts } from '../../db/attempts.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { endedBatch } from '../../providers/ended-batch.ts';
import { runActivity, testDependencies } from '../harness/activities.ts';
import { ANTHROPIC, atEach, type ChatTarget, GEMINI, OPENAI } from '../harness/chat-targets.ts';
import { columnsWith } from '../harness/columns-with.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, type ResultRow, startGateway, type TestGateway } from '../harness/gateway.ts';
import { answerOf } from '../harness/neutral-requests.ts';

const TARGETS = [OPENAI, ANTHROPIC, GEMINI];
const DAY_MS = 24 * 3_600_000;

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterAll(() => gateway.stop());

type Row = ResultRow & { readonly content: string | null; readonly response_hash: string | null };

/** The ended job of a few prompts, one of which fails. */
async function run({ model }: ChatTarget, storage: string, planted: string): Promise<string> {
  const prompts = [1, 2, 3, 4].map((no) => `${planted} question ${no} [[sim:text=answer ${no} is ${planted}]]`);
  const jobId = await caller.submitPrompts([...prompts, `${planted} [[sim:error=server_error]]`], {
    model,
    storage,
    execution: { max_items_per_shard: 3 },
  });
  await caller.ended(jobId);
  if (storage !== 'normalized')
    await eventually(async () => (await storageOf(jobId))['request_body_deleted_at'] !== null);
  return jobId;
}

const storageOf = (jobId: string) => caller.call<Record<string, unknown>>('GET', `/v1/batch-jobs/${jobId}/storage`);

const rowsOf = async (jobId: string) => (await caller.results(jobId)) as Row[];

/** What was answered to each item. */
async function answers(jobId: string, planted: string) {
  const rows = await rowsOf(jobId);
  const said = rows.map(({ custom_id, status, result, error, usage }) => {
    const text = JSON.stringify(result === null ? null : answerOf(result)).replaceAll(planted, '…');
    return [custom_id, { status, text, error, output: usage?.['output_tokens'] }] as const;
  });
  return Object.fromEntries(said);
}

/** Whether any of the job's results can still be had from its provider. */
async function isAtProvider(jobId: string): Promise<boolean> {
  const { key } = await getJobRow(gateway.database.db.pool, jobId);
  const attempts = (
    await Promise.all([1, 2].map((shard) => listSentAttempts(gateway.database.db.pool, key, shard)))
  ).flat();
  expect(attempts.length).toBeGreaterThan(1);
  for (const attempt of attempts) {
    const provider = await gateway.providers.of(attempt.provider, attempt.credentialId);
    for (const file of provider.resultFiles(endedBatch(attempt))) {
      const download = provider.downloadFile({ file, signal: AbortSignal.timeout(5_000) });
      const isThere = await Array.fromAsync(download).then(
        () => true,
        () => false,
      );
      if (isThere) return true;
    }
  }
  return false;
}

test('what the gateway does not keep is read at each provider as it had settled, and is gone there after its window', async () => {
  const jobs = new Map<ChatTarget, string>();
  await atEach(TARGETS, async (target) => {
    // Of one length, for usage is told by it.
    const [kept, plantedIn] = [`kept-${target.provider}-31c7`, `gone-${target.provider}-31c7`];
    const normalized = await answers(await run(target, 'normalized', kept), kept);
    expect(JSON.stringify(normalized)).toContain('answer 3 is …');
    for (const storage of ['pointers', 'hashes']) {
      const jobId = await run(target, storage, plantedIn);
      expect(await answers(jobId, plantedIn)).toEqual(normalized);
      const contents = (await rowsOf(jobId)).map(({ content }) => content);
      expect(contents.toSorted()).toEqual(['at_provider', 'at_provider', 'at_provider', 'at_provider', null]);
      expect(await isAtProvider(jobId)).toBe(true);
      if (storage === 'hashes') jobs.set(target, jobId);
    }
    expect(await columnsWith(gateway.database.db, plantedIn)).toEqual([]);
  });
  const later = new Date(Date.now() + DAY_MS + 60_000);
  const { tidyTables } = createMaintenanceActivities(
    testDependencies(gateway.database.db, { providers: gateway.providers, now: () => later }),
  );
  await runActivity(async (_: null) => tidyTables(), null);
  await atEach(TARGETS, async (target) => {
    const jobId = jobs.get(target) ?? '';
    const completed = (await rowsOf(jobId)).filter(({ status }) => status === 'completed');
    expect(completed).toHaveLength(4);
    for (const row of completed) expect(row).toMatchObject({ content: 'not_stored', result: null });
    expect(completed.every((row) => row.response_hash?.startsWith('sha256:'))).toBe(true);
    expect(await isAtProvider(jobId)).toBe(false);
    await gateway.expectSound(jobId);
  });
});
