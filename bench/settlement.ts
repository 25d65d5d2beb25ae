import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { createDatabaseActivities, createProviderActivities } from '../activities/create-activities.ts';
import { getAttempt } from '../db/attempts.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { getJobRow, type JobRow } from '../db/job-rows.ts';
import { listShards } from '../db/shards.ts';
import { encodeProviderItemId } from '../domain/attempt-token.ts';
import { createOpenAiProvider } from '../providers/openai/adapter.ts';
import type { BatchProvider, NativeBatch } from '../providers/provider.ts';
import { runActivity, testDependencies } from '../tests/harness/activities.ts';
import { insertJob, insertTenant } from '../tests/harness/jobs.ts';
import { count, growthOf, type Measurement, median, peakMemory, perSecond } from './measurement.ts';

const RUNS = 3;
const CHUNK_BYTES = 64 * 1024;
const TABLES = ['item_results', 'ledger_entries'] as const;

/**
 * Brings ended batches of 1 kB results home through the real activity (parse, price, stage, settle, money), and copies
 * the very same result and ledger rows raw, in turn, for jobs of each size. The provider's bytes come from memory.
 */
export async function measureSettlement(databaseUrl: string, sizes: readonly number[]): Promise<Measurement[]> {
  const db = openDatabase({ url: databaseUrl, poolSize: 12, applicationName: 'bench-settlement' });
  const times = new Map<number, number>();
  const measured: Measurement[] = [];
  try {
    for (const items of sizes) {
      const settleMs: number[] = [];
      const copyMs: number[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        const { job, ms } = await timeIngest(db, items);
        settleMs.push(ms);
        copyMs.push(await timeCopy(db, job));
      }
      const [settle, copy] = [median(settleMs), median(copyMs)];
      times.set(items, settle);
      measured.push({
        name: `ingest and settle ${count(items)} results`,
        ratio: copy / settle,
        goal: { atLeast: 0.5 },
        detail: `ingest and settle ${perSecond(items, settle)}, raw COPY of the same result and ledger rows ${perSecond(items, copy)}, median of ${RUNS}; ${peakMemory()}`,
      });
    }
    return [...measured, ...growthOf('ingest and settle', times)];
  } finally {
    await db.close();
  }
}

async function timeIngest(db: Database, items: number): Promise<{ job: JobRow; ms: number }> {
  const tenant = await insertTenant(db, { limit: '1000000' });
  const draft = await insertJob(db, tenant, { items });
  const results: { file: Buffer; items: number } = { file: Buffer.alloc(0), items: 0 };
  const dependencies = testDependencies(db, { provider: providerOf(results) });
  const database = createDatabaseActivities(dependencies);
  const provider = createProviderActivities(dependencies);
  const { jobId } = draft;
  await runActivity(database.admitJob, { jobId, submissionNo: 1 });
  await runActivity(database.planShards, { jobId });
  let ms = 0;
  for (const { shard: number, firstItemNo, itemCount } of await listShards(db.pool, draft.key)) {
    const shard = { jobId, shard: number };
    await runActivity(database.nextStep, shard);
    await runActivity(provider.submitAttempt, { ...shard, attempt: 1 });
    const { attemptToken } = await getAttempt(db.pool, draft.key, number, 1);
    results.items = itemCount;
    results.file = resultFile(attemptToken, { firstItemNo, items: itemCount });
    await runActivity(provider.pollAttempt, { ...shard, attempt: 1, pollsWithoutChange: 0 });
    const start = performance.now();
    const ingested = await runActivity(provider.ingestAttempt, { ...shard, attempt: 1 });
    ms += performance.now() - start;
    if (ingested.settled !== itemCount) throw new Error(`${ingested.settled} items settled, not ${itemCount}`);
    await runActivity(database.closeShard, { ...shard, reason: 'batch_completed' as const });
  }
  await runActivity(database.reconcileJob, { jobId });
  return { job: await getJobRow(db.pool, jobId), ms };
}

/** The real decoder over a batch that is done at once. */
function providerOf(results: { readonly file: Buffer; readonly items: number }): BatchProvider {
  const real = createOpenAiProvider({
    apiKey: 'none',
    baseUrl: 'http://127.0.0.1:9',
    requestTimeoutMs: 1_000,
    idleTimeoutMs: 1_000,
  });
  const batchOf = (providerBatchId: string): NativeBatch => ({
    providerBatchId,
    phase: 'ended',
    end: 'completed',
    nativeStatus: 'completed',
    nativeCounts: null,
    progress: { total: results.items, completed: results.items, failed: 0 },
    createdAt: new Date(),
    expiresAt: null,
    inputFileId: 'file_in',
    outputFileId: 'file_out',
    errorFileId: null,
    operationName: null,
    validationErrors: [],
    capacityRefused: false,
  });
  const known = ({ providerBatchId }: { providerBatchId: string }) => Promise.resolve(batchOf(providerBatchId));
  return {
    provider: real.provider,
    inputFraming: real.inputFraming,
    encodeItem: (item) => real.encodeItem(item),
    uploadInput: async () => ({ inputFileId: 'file_in' }),
    createBatch: async () => batchOf(`batch_${process.hrtime.bigint()}`),
    findBatches: async () => [],
    listLabelled: null,
    retrieveBatch: known,
    cancelBatch: known,
    deleteFiles: async () => undefined,
    resultFiles: (ended) => real.resultFiles(ended),
    downloadFile: () => Readable.from(cut(results.file)),
    decodeLine: (endpoint, line) => real.decodeLine(endpoint, line),
    complete: (input) => real.complete(input),
  };
}

function resultFile(token: string, shard: { readonly firstItemNo: number; readonly items: number }): Buffer {
  const text = 'The customer reports a fault and asks for help. It concerns delivery, and the tone is calm. '.repeat(7);
  const lines = Array.from({ length: shard.items }, (_, index) => {
    const body = {
      id: `chatcmpl-${index}`,
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'gpt-4o-mini-2024-07-18',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: `${index}: ${text}`, refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 180 + (index % 50),
        completion_tokens: 60 + (index % 30),
        total_tokens: 300,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    };
    const id = encodeProviderItemId(token, shard.firstItemNo + ((index * 7_919) % shard.items));
    return JSON.stringify({
      id: `batch_req_${index}`,
      custom_id: id,
      response: { status_code: 200, request_id: `r${index}`, body },
      error: null,
    });
  });
  return Buffer.from(`${lines.join('\n')}\n`);
}

function* cut(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
}

/** Copies the job's result and ledger rows, as text, into empty tables of the same shape and indexes. */
async function timeCopy(db: Database, job: JobRow): Promise<number> {
  const client = await db.pool.connect();
  try {
    const texts = new Map<string, Buffer>();
    for (const table of TABLES) {
      const owner = table === 'ledger_entries' ? 'subject_id' : 'job_id';
      const copy = client.query(copyTo(`COPY (SELECT * FROM ${table} WHERE ${owner} = '${job.key.uuid}') TO STDOUT`));
      texts.set(table, Buffer.concat(await copy.toArray()));
      await client.query(
        `DROP TABLE IF EXISTS bench_${table}; CREATE TABLE bench_${table} (LIKE ${table} INCLUDING ALL)`,
      );
    }
    const start = performance.now();
    for (const table of TABLES) {
      const bytes = texts.get(table) ?? Buffer.alloc(0);
      await pipeline(Readable.from(cut(bytes)), client.query(copyFrom(`COPY bench_${table} FROM STDIN`)));
    }
    return performance.now() - start;
  } finally {
    for (const table of TABLES) await client.query(`DROP TABLE IF EXISTS bench_${table}`);
    client.release();
  }
}
