import { afterAll, beforeAll, expect, test } from 'vitest';
import { toUuid } from '../../db/ids.ts';
import { eventually } from '../harness/eventually.ts';
import { Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { attemptTokens, batchesOf, openai } from '../harness/provider-side.ts';
import { soundEnd } from '../harness/sound-end.ts';
import { type GatewayProcess, GatewayStack } from '../harness/stack.ts';

const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
const ITEMS = isShort ? 1_000 : 5_000;
const SHARDS = 5;
const PER_SHARD = ITEMS / SHARDS;
const AN_HOUR_MS = 3_600_000;
const WITHIN_MS = 600_000;

let gateway: TestGateway;
let stack: GatewayStack;
let worker: GatewayProcess;
let caller: Caller;
let jobId: string;
let ended: Awaited<ReturnType<typeof soundEnd>>;

/** Of every hundred items one gets no result, one gets two, and five fail. */
function markOf(index: number): string {
  const place = index % 100;
  if (place === 17) return ' [[sim:missing]]';
  if (place === 42) return ' [[sim:duplicate]]';
  return place % 20 === 3 ? ' [[sim:error=server_error]]' : '';
}

/** One job through every fault of a provider at once, its worker killed in the middle of bringing results home. */
beforeAll(async () => {
  gateway = await startGateway({ workers: false });
  stack = GatewayStack.of(gateway);
  const [api, first] = await Promise.all([stack.startApi(), stack.startWorker()]);
  worker = first;
  const tenant = await gateway.newTenant({ limit: '1000' });
  caller = new Caller(api.url, tenant.caller.key);
  await gateway.simulator.faults(
    openai('batches.create', { drop_after: true }, { skip: 1 }),
    openai('batches.retrieve', { status: 429, headers: { 'retry-after': '1' } }, { skip: 1 }),
    openai('batches.retrieve', { status: 500 }, { skip: 2 }),
    openai('files.content', { cut: { after_bytes: 60_000 } }),
    openai('files.content', { stall: { after_bytes: 50_000, ms: AN_HOUR_MS } }),
    openai('files.content', { truncate: { after_bytes: 70_000 } }),
  );
  jobId = await caller.createJob({ execution: { max_items_per_shard: PER_SHARD } });
  const line = (_: unknown, index: number) =>
    JSON.stringify({
      custom_id: `row_${index + 1}`,
      request: {
        messages: [{ role: 'user', content: `Summarise document ${index}.${markOf(index)}` }],
        max_tokens: 80,
      },
    });
  const body = Array.from({ length: ITEMS }, line).join('\n');
  const headers = { 'content-type': 'application/x-ndjson' };
  await caller.fetch(`/v1/batch-jobs/${jobId}/manifest`, { method: 'PUT', headers, body });
  await caller.submit(jobId);
  await eventually(isStalled, { timeoutMs: WITHIN_MS });
  worker.signal('SIGKILL');
  await worker.ended();
  await gateway.simulator.advance(AN_HOUR_MS);
  await stack.startWorker();
  await caller.ended(jobId, WITHIN_MS);
  ended = await soundEnd(gateway, caller, jobId);
}, 2 * WITHIN_MS);

afterAll(async () => {
  await stack.stop();
  await gateway.stop();
}, 120_000);

async function isStalled(): Promise<boolean> {
  const downloads = await gateway.simulator.journal({ route: 'files.content' });
  return downloads.some((entry) => entry.fault?.includes('stall') && entry.ended_at === null);
}

test('every item ends in exactly one state, which is the one its result deserves', () => {
  const { job, rows } = ended;
  expect(rows).toHaveLength(ITEMS);
  const missing = ITEMS / 100;
  expect(job).toMatchObject({
    status: 'completed_with_errors',
    counts: { completed: ITEMS - 6 * missing, failed: 6 * missing, expired: 0, cancelled: 0 },
    failures: { provider_error: 5 * missing, missing_result: missing },
    unmatched_lines: 0,
  });
  for (const [index, row] of rows.entries()) {
    const mark = markOf(index);
    const expected = mark.includes('missing')
      ? 'missing_result'
      : mark.includes('error')
        ? 'provider_server_error'
        : undefined;
    expect(row.error?.code).toBe(expected);
  }
});

test('each item is charged at most once, and only for a result', async () => {
  const { job, rows } = ended;
  const { rows: charges } = await gateway.database.db.pool.query<{ items: number; entries: number }>(
    `SELECT count(DISTINCT item_no)::int AS items, count(*)::int AS entries FROM ledger_entries
     WHERE subject_id = $1 AND event = 'batch.item.settled'`,
    [toUuid('job', jobId)],
  );
  expect(charges).toEqual([{ items: job.counts.completed, entries: job.counts.completed }]);
  for (const row of rows) expect(Number(row.cost) > 0).toBe(row.status === 'completed');
  expect(await gateway.operator.call('GET', '/v1/operator/ledger/verify')).toMatchObject({ ok: true, differences: [] });
});

test('each attempt was accepted once, and no item is in two batches', async () => {
  const tokens = await attemptTokens(gateway, jobId);
  const batches = await batchesOf(gateway, jobId);
  expect(tokens).toHaveLength(SHARDS);
  expect(batches).toHaveLength(SHARDS);
  expect((await gateway.simulator.batches())['openai']).toHaveLength(SHARDS);
  expect(new Set(batches.map(({ metadata }) => metadata?.batchgate_attempt)).size).toBe(SHARDS);
  const sent = await Promise.all(batches.map(({ input_file_id: id }) => readCustomIds(id)));
  expect(new Set(sent.flat()).size).toBe(ITEMS);
  expect(sent.flat()).toHaveLength(ITEMS);
});

test('every fault of the script has struck', async () => {
  expect(await gateway.simulator.remainingFaults()).toEqual([]);
});

/** Item numbers of an input file, as the provider was sent them. */
async function readCustomIds(fileId: string): Promise<string[]> {
  const response = await fetch(`${gateway.openaiUrl}/files/${fileId}/content`, {
    headers: { authorization: 'Bearer sim-key' },
  });
  const lines = (await response.text()).trimEnd().split('\n');
  return lines.map((line) => String((JSON.parse(line) as { custom_id: string }).custom_id.split('-')[1]));
}
