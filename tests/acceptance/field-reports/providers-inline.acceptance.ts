import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ANTHROPIC, atEach, type ChatTarget, GEMINI } from '../../harness/chat-targets.ts';
import { type Caller, type ResultRow, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchAt, createsOf } from '../../harness/provider-calls.ts';
import { faultAt, prompts } from '../../harness/provider-side.ts';
import { soundEnd, withStatus } from '../../harness/sound-end.ts';

const ITEMS = 1_000;
const USUAL = { resultDestination: 'as_input', shuffleInline: false };

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterEach(async () => {
  await gateway.simulator.clearFaults();
  await gateway.simulator.settings({ gemini: USUAL });
});
afterAll(() => gateway.stop());

interface OperatorAnswer {
  shards: { batches: { output_file_id: string | null; provider_batch_id: string }[] }[];
  unmatched: { count: number; lines: { reason: string; raw_base64: string }[] };
}

const operatorView = (jobId: string) => gateway.operator.call<OperatorAnswer>('GET', `/v1/operator/jobs/${jobId}`);

/** Each item asks for a text that no other has. */
function submitNumbered({ model }: ChatTarget, count: number): Promise<string> {
  const texts = Array.from({ length: count }, (_, index) => `[[sim:text=answer ${index + 1}]][[sim:usage=1000,100]]`);
  return caller.submitPrompts(texts, { model });
}

/** Fails where a text is not the one its item asked for. */
function expectOwnTexts(rows: readonly ResultRow[]): void {
  const swapped = withStatus(rows, 'completed').filter(({ custom_id: id, result }) => {
    const [choice] = (result?.['choices'] ?? []) as { message: { content: string } }[];
    return choice?.message.content !== `answer ${id.slice('row_'.length)}`;
  });
  expect(swapped).toEqual([]);
}

test('R-07: a thousand answers that come inline and in another order are each their own item’s', async () => {
  await gateway.simulator.settings({ gemini: { resultDestination: 'inline', shuffleInline: true } });
  const jobId = await submitNumbered(GEMINI, ITEMS);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: ITEMS }, unmatched_lines: 0, warnings: [] });
  // 0.000275 each.
  expect(job.cost.settled).toBe('0.275');
  expectOwnTexts(rows);
  const [shard] = (await operatorView(jobId)).shards;
  expect(shard?.batches[0]?.output_file_id).toBe(shard?.batches[0]?.provider_batch_id);
});

test.each([
  { target: GEMINI, where: 'inline', settings: { resultDestination: 'inline', shuffleInline: true } },
  { target: GEMINI, where: 'in a file', settings: USUAL },
  { target: ANTHROPIC, where: 'in a file', settings: USUAL },
])(
  'R-07: answers without an id $where ($target.provider) are given to nobody, their items are missing',
  async (scene) => {
    const { target, settings } = scene;
    await gateway.simulator.settings({ gemini: settings });
    await gateway.simulator.faults(faultAt(target.provider, 'batch:results', { no_key_lines: { every: 100 } }));
    const jobId = await submitNumbered(target, ITEMS);
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({
      status: 'completed_with_errors',
      counts: { completed: 990, failed: 10 },
      failures: { missing_result: 10 },
      unmatched_lines: 10,
    });
    expect(Number(job.cost.settled)).toBeCloseTo(990 * Number(target.costOf1000And100), 9);
    expect(job.warnings?.map(({ code }) => code)).toContain('unmatched_lines');
    expectOwnTexts(rows);
    const missing = withStatus(rows, 'failed');
    for (const row of missing) {
      expect(row).toMatchObject({
        result: null,
        cost: '0.00',
        error: { class: 'missing_result', code: 'missing_result' },
      });
    }
    const { unmatched } = await operatorView(jobId);
    expect(unmatched.count).toBe(10);
    const texts = unmatched.lines.map(({ raw_base64: raw }) => Buffer.from(raw, 'base64').toString());
    const answers = texts.map((text) => /answer (\d+)/.exec(text)?.[1]);
    expect(answers.toSorted()).toEqual(missing.map(({ custom_id: id }) => id.slice('row_'.length)).toSorted());
  },
);

test('R-07: answers that come twice, for nobody, or with another’s id stay apart inline, too', async () => {
  await gateway.simulator.settings({ gemini: { resultDestination: 'inline' } });
  await gateway.simulator.faults(faultAt('gemini', 'batches.create', { stuck: { state: 'in_progress', finished: 0 } }));
  const jobId = await submitNumbered(GEMINI, 4);
  const { id, token } = await batchAt(gateway, jobId);
  const inline = (key: unknown) => JSON.stringify({ ...JSON.parse(GEMINI.answered(undefined)), metadata: { key } });
  const strange = [inline('row_1'), inline(`${token}-5`), inline(7), inline(null), 'null', '"text"', '[]'];
  await gateway.simulator.faults(
    faultAt('gemini', 'batch:results', {
      omit_lines: { index: [3] },
      duplicate_lines: { first: 2 },
      append_raw_lines: strange,
    }),
  );
  await gateway.simulator.batch(id, { stuck: null });
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({
    counts: { completed: 3, failed: 1 },
    failures: { missing_result: 1 },
    unmatched_lines: strange.length,
  });
  expectOwnTexts(rows);
});

const Operation = z.looseObject({ response: z.unknown(), metadata: z.looseObject({ output: z.unknown() }) });

/** The batch as Gemini shows it to somebody whom no fault meets. */
async function trueOperation(batchId: string): Promise<z.infer<typeof Operation>> {
  const response = await fetch(`${gateway.geminiUrl}/v1beta/${batchId}`, {
    headers: { 'x-goog-api-key': 'another-observer' },
  });
  return Operation.parse(await response.json());
}

const OURS = { credential: '...-key' };
const RUNNING = { native_status: 'BATCH_STATE_RUNNING' };

test('R-09: results are found wherever the batch names them: in a file or inline, in the response or the metadata', async () => {
  const { simulator } = gateway;
  const scenes = (['inline', 'file'] as const).flatMap((destination) =>
    (['response', 'metadata'] as const).map((only) => ({ destination, only })),
  );
  await simulator.faults(faultAt('gemini', 'batches.retrieve', RUNNING, { times: 'always', match: OURS }));
  const running = [];
  for (const scene of scenes) {
    await simulator.settings({ gemini: { resultDestination: scene.destination } });
    const jobId = await submitNumbered(GEMINI, 5);
    const { id } = await batchAt(gateway, jobId, ({ status }) => status === GEMINI.endedStatus);
    running.push({ ...scene, jobId, id });
  }
  const replies = running.map(async ({ id, only }) => {
    const { response, metadata, ...rest } = await trueOperation(id);
    const { output, ...facts } = metadata;
    expect(response).toMatchObject(output as object);
    const body = {
      ...rest,
      metadata: { ...facts, ...(only === 'metadata' && { output }) },
      ...(only === 'response' && { response }),
    };
    return faultAt(
      'gemini',
      'batches.retrieve',
      { status: 200, body },
      { times: 'always', match: { ...OURS, batch_id: id } },
    );
  });
  const shown = await Promise.all(replies);
  await simulator.clearFaults();
  await simulator.faults(...shown);
  for (const { jobId, destination } of running) {
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 5 }, unmatched_lines: 0 });
    expectOwnTexts(rows);
    const [shard] = (await operatorView(jobId)).shards;
    expect(shard?.batches[0]?.output_file_id).toMatch(destination === 'file' ? /^files\// : /^batches\//);
    expect((await createsOf(gateway, jobId))[0]?.facts['input_file_id']).toMatch(/^files\//);
  }
});

test('R-09: an inline reply that is cut off, or no reply at all, is asked for again', async () => {
  await gateway.simulator.settings({ gemini: { resultDestination: 'inline' } });
  const ended = { batch_status: GEMINI.endedStatus };
  await gateway.simulator.faults(
    faultAt('gemini', 'batches.retrieve', { drop_after: true }, { skip: 2, match: ended }),
    faultAt('gemini', 'batches.retrieve', { error_object_200: true }, { skip: 2, match: ended }),
    faultAt('gemini', 'batches.retrieve', { status: 503 }, { skip: 2, match: ended }),
  );
  const jobId = await submitNumbered(GEMINI, 20);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 20 }, unmatched_lines: 0, waiting: null });
  expectOwnTexts(rows);
  expect(await gateway.simulator.remainingFaults()).toEqual([]);
});

test('R-07: shards of one job that end in any order keep their answers apart', async () => {
  await gateway.simulator.settings({ gemini: { resultDestination: 'inline', shuffleInline: true } });
  await atEach([GEMINI, ANTHROPIC], async (target) => {
    const texts = prompts(30).map((_, index) => `[[sim:text=answer ${index + 1}]]`);
    const jobId = await caller.submitPrompts(texts, { model: target.model, execution: { max_items_per_shard: 8 } });
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 30 }, unmatched_lines: 0 });
    expectOwnTexts(rows);
    expect(await createsOf(gateway, jobId)).toHaveLength(target === GEMINI ? 4 : 5);
  });
});
