import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ATTEMPT_TOKEN_BYTES, encodeAttemptToken } from '../../domain/attempt-token.ts';
import { sanitiseUsage } from '../../domain/usage.ts';
import { splitLines } from '../../providers/jsonl.ts';
import type { BatchProvider, LineResult, NativeBatch, ResultFile } from '../../providers/provider.ts';
import { type Control, createControl } from '../../simulators/control-client.ts';
import { type Simulators, startSimulators } from '../../simulators/start.ts';
import { eventually } from '../harness/eventually.ts';
import { ADAPTERS } from './adapters.ts';

const { signal } = new AbortController();
const TIMEOUTS = { requestTimeoutMs: 10_000, idleTimeoutMs: 10_000 };

/** The most tokens of a reply to a request that sets no limit. */
const DEFAULT_MAX_OUTPUT_TOKENS = 1_000;

describe.each(ADAPTERS)('$provider', ({ connect, provider: name, routes, samples, settings, traits }) => {
  let simulators: Simulators;
  let control: Control;
  let provider: BatchProvider;
  let folder: string;
  let token = '';
  let startedAt = new Date();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'contract-'));
    simulators = await startSimulators({ settings });
    control = createControl(simulators.controlUrl);
  });
  afterAll(async () => {
    await simulators.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    await control.reset();
    await control.clearFaults();
    await control.clearJournal();
    provider = connect(simulators, TIMEOUTS);
    token = newToken();
    startedAt = new Date();
  });

  const newToken = () => encodeAttemptToken(randomBytes(ATTEMPT_TOKEN_BYTES));
  const fault = (route: keyof typeof routes, action: object, times: number | 'always' = 1) =>
    control.faults({ provider: name, route: routes[route], times, action });

  async function upload(prompts: readonly string[], { endpoint, model, request } = samples[0]) {
    const lines = prompts.map((prompt, index) =>
      provider.encodeItem({
        providerItemId: `${token}-${index + 1}`,
        endpoint,
        model,
        request: request(prompt),
        defaultMaxOutputTokens: DEFAULT_MAX_OUTPUT_TOKENS,
      }),
    );
    const { prefix, separator, suffix } = provider.inputFraming;
    const path = join(folder, `${token}.jsonl`);
    await writeFile(path, prefix + lines.join(separator) + suffix);
    const uploaded = await provider.uploadInput({ path, fileName: `${token}.jsonl`, signal });
    expect(uploaded === null).toBe(!traits.uploadsInput);
    const inputFileId = uploaded?.inputFileId ?? null;
    return { attemptToken: token, endpoint, model, itemCount: prompts.length, inputFileId, path, signal };
  }

  async function submit(prompts: readonly string[], sample = samples[0]): Promise<NativeBatch> {
    return provider.createBatch(await upload(prompts, sample));
  }

  const retrieve = ({ providerBatchId }: NativeBatch, at = provider) => at.retrieveBatch({ providerBatchId, signal });

  async function untilEnded(batch: NativeBatch): Promise<NativeBatch> {
    return eventually(async () => {
      const now = await retrieve(batch);
      return now.phase === 'ended' ? now : null;
    });
  }

  const findOwn = (input: Awaited<ReturnType<typeof upload>>) =>
    provider.findBatches({ ...input, createdAfter: startedAt });

  async function collect(batch: NativeBatch, { endpoint } = samples[0]): Promise<Map<string, LineResult>> {
    const results = new Map<string, LineResult>();
    for (const file of provider.resultFiles(batch)) {
      const chunks = provider.downloadFile({ file, signal });
      for await (const { text } of splitLines(chunks, { maxLineBytes: 1 << 20 })) {
        const line = provider.decodeLine(endpoint, text ?? '');
        if (line.kind === 'unreadable') throw new Error(`unreadable line: ${line.reason}`);
        results.set(line.providerItemId, line.result);
      }
    }
    return results;
  }

  async function kindsOf(batch: NativeBatch): Promise<string[]> {
    const results = await collect(batch);
    return [...results.values()].map(({ kind }) => kind).sort();
  }

  const count = (kinds: readonly string[]) => (kind: string) => kinds.filter((each) => each === kind).length;
  const prompts = (size: number) => Array.from({ length: size }, (_, index) => `Question ${index + 1}`);
  const repliesEnded = async () => (await control.journal()).every(({ ended_at }) => ended_at !== null);

  async function drain(file: ResultFile | undefined, from = provider): Promise<number> {
    let bytes = 0;
    if (file === undefined) throw new Error('the batch has no result file');
    for await (const chunk of from.downloadFile({ file, signal })) bytes += chunk.length;
    return bytes;
  }

  test('runs a batch from the upload to decoded results', async () => {
    const created = await submit([
      'plain',
      '[[sim:text=one\u2028two\u0085three]]',
      '[[sim:usage=1200,90]]',
      '[[sim:error=rate_limit]]',
      '[[sim:error=server_error]]',
      '[[sim:invalid]]',
      '[[sim:safety]]',
      '[[sim:missing]]',
      '[[sim:usage=none]]',
    ]);
    expect(created).toMatchObject({ phase: traits.createdPhase, end: null, capacityRefused: false });
    expect(created.createdAt?.getTime()).toBeGreaterThan(startedAt.getTime() - 60_000);
    const ended = await untilEnded(created);
    expect(ended).toMatchObject({ end: 'completed', providerBatchId: created.providerBatchId });
    const results = await collect(ended);
    const resultOf = (itemNo: number) => results.get(`${token}-${itemNo}`);
    expect(results.size).toBe(8);
    expect(resultOf(1)).toMatchObject({ kind: 'completed' });
    expect(resultOf(2)).toMatchObject({ body: expect.stringContaining('one\u2028two\u0085three') });
    expect(resultOf(3)).toMatchObject({ usage: { inputTokens: 1200, outputTokens: 90 } });
    expect(resultOf(4)).toMatchObject({ kind: 'failed', class: 'rate_limited' });
    expect(resultOf(5)).toMatchObject({ kind: 'failed', class: 'provider_error' });
    expect(resultOf(6)).toMatchObject({ kind: 'failed', class: 'validation' });
    expect(resultOf(7)).toMatchObject({ kind: 'failed', class: 'safety_blocked' });
    expect(resultOf(8)).toBeUndefined();
    expect(resultOf(9)).toMatchObject({ kind: 'completed', usage: null });
  });

  test('deletes what is kept of an ended batch, and may be asked to again', async () => {
    const ended = await untilEnded(await submit(prompts(2)));
    const [file] = provider.resultFiles(ended);
    expect(await drain(file)).toBeGreaterThan(0);
    for (const _ of [1, 2]) await provider.deleteFiles({ files: ended, signal });
    await expect(drain(file)).rejects.toMatchObject({ code: 'not_found' });
    const nothing = { providerBatchId: null, inputFileId: null, outputFileId: null, errorFileId: null };
    await provider.deleteFiles({ files: nothing, signal });
  });

  test.each(samples)('understands the results of $endpoint', async (sample) => {
    const results = await collect(await untilEnded(await submit(['A question'], sample)), sample);
    const result = results.get(`${token}-1`);
    if (result?.kind !== 'completed') throw new Error(`the item is ${result?.kind}`);
    expect(sanitiseUsage(result.usage, { inputTokens: 0, outputTokens: 0 }).estimated).toBe(false);
    expect(JSON.parse(result.body)).toBeTypeOf('object');
    expect(result.model).toBe(sample.namesModel === false ? null : sample.model);
  });

  test(`a cancelled batch keeps ${traits.keepsFinished ? 'what was finished' : 'nothing'}`, async () => {
    await fault('create', { stuck: { state: 'in_progress', finished: 4 } });
    const created = await submit(prompts(10));
    await eventually(async () => {
      const { phase, progress } = await retrieve(created);
      return phase === 'running' && progress?.completed === (traits.showsProgress ? 4 : undefined);
    });
    const cancelling = await provider.cancelBatch({ providerBatchId: created.providerBatchId, signal });
    expect(['cancelling', 'ended']).toContain(cancelling.phase);
    const ended = await untilEnded(created);
    expect(ended.end).toBe('cancelled');
    if (!traits.keepsFinished) return expect(provider.resultFiles(ended)).toEqual([]);
    const kinds = count(await kindsOf(ended));
    expect(kinds('completed')).toBeGreaterThanOrEqual(4);
    expect(kinds('completed') + kinds('cancelled')).toBe(10);
  });

  test('a cancel that comes too late returns the batch as it ended', async () => {
    const ended = await untilEnded(await submit(prompts(1)));
    const answer = await provider.cancelBatch({ providerBatchId: ended.providerBatchId, signal });
    expect(answer).toMatchObject({ phase: 'ended', end: 'completed' });
  });

  test(`an expired batch keeps ${traits.keepsFinished ? 'what was finished and names the rest' : 'nothing'}`, async () => {
    await fault('create', { end_state: { status: 'expired', finished: 3 } });
    const ended = await untilEnded(await submit(prompts(10)));
    expect(ended.end).toBe('expired');
    if (!traits.keepsFinished) return expect(provider.resultFiles(ended)).toEqual([]);
    const kinds = count(await kindsOf(ended));
    expect([kinds('completed'), kinds('expired')]).toEqual([3, 7]);
  });

  test.each(traits.fullQueue)('a full queue is told apart where it is said $said', async ({ said, action }) => {
    await fault('create', action);
    if (said === 'at_create') {
      const full = { code: 'capacity_full', isRetryable: true, mayHaveActed: false };
      return expect(submit(prompts(2))).rejects.toMatchObject(full);
    }
    expect(await untilEnded(await submit(prompts(2)))).toMatchObject({ end: 'failed', capacityRefused: true });
  });

  test(`a bad line fails its ${traits.badLineFails} and is named`, async () => {
    const ended = await untilEnded(await submit(['fine', '[[sim:invalid_line]]']));
    if (traits.badLineFails === 'item') {
      const results = await collect(ended);
      expect(ended).toMatchObject({ end: 'completed', validationErrors: [] });
      expect(results.get(`${token}-1`)?.kind).toBe('completed');
      return expect(results.get(`${token}-2`)).toMatchObject({ kind: 'failed', class: 'validation' });
    }
    expect(ended).toMatchObject({ end: 'failed', capacityRefused: false, validationErrors: [{ line: 2 }] });
    expect(provider.resultFiles(ended)).toEqual([]);
  });

  test.each([
    ['the connection drops behind it', { drop_after: true }, 'connection_lost'],
    ['a 500 comes in its place', { status_after: 500 }, 'unavailable'],
    ['a 504 comes in its place', { status_after: 504 }, 'timed_out'],
  ])('a create that was accepted while %s is found, exactly once', async (_name, action, code) => {
    await submit(prompts(1));
    token = newToken();
    await fault('create', action);
    const input = await upload(prompts(2));
    await expect(provider.createBatch(input)).rejects.toMatchObject({ code, mayHaveActed: true });
    const found = await findOwn(input);
    expect(found).toHaveLength(1);
    const creates = (await control.journal()).filter(({ route }) => route === routes.create);
    expect(creates).toHaveLength(2);
  });

  test(`of two batches alike the one of a token is found ${traits.carriesLabel ? 'alone' : 'alone once both have ended'}`, async () => {
    await fault('create', { stuck: { state: 'in_progress' } }, 2);
    const other = await submit(prompts(2));
    token = newToken();
    const input = await upload(prompts(2));
    const own = await provider.createBatch(input);
    const found = (await findOwn(input)).map(({ providerBatchId }) => providerBatchId);
    const [newest, ...older] = [own.providerBatchId, other.providerBatchId];
    expect(found).toEqual(traits.carriesLabel ? [newest] : [newest, ...older]);
    for (const { providerBatchId } of [own, other]) await control.batch(providerBatchId, { stuck: null });
    await Promise.all([untilEnded(own), untilEnded(other)]);
    expect(await findOwn(input)).toMatchObject([{ providerBatchId: newest }]);
  });

  test(`batches ${traits.carriesLabel ? 'are listed with their label' : 'carry no label to list them by'}`, async () => {
    const batch = await submit(prompts(1));
    const listed = await provider.listLabelled?.({ createdAfter: startedAt, signal });
    const own = listed?.filter(({ attemptToken }) => attemptToken === token);
    expect(own?.map(({ batch: { providerBatchId } }) => providerBatchId)).toEqual(
      traits.carriesLabel ? [batch.providerBatchId] : undefined,
    );
  });

  test('a create that was refused is not found', async () => {
    await fault('create', traits.waitSevenSeconds);
    const input = await upload(prompts(1));
    const refused = { code: 'rate_limited', mayHaveActed: false, isRetryable: true, retryAfterMs: 7000 };
    await expect(provider.createBatch(input)).rejects.toMatchObject(refused);
    expect(await findOwn(input)).toEqual([]);
  });

  test('a create answered with an error object under 200 may have acted', async () => {
    await fault('create', { error_object_200: true });
    await expect(submit(prompts(1))).rejects.toMatchObject({ code: 'malformed_reply', mayHaveActed: true });
  });

  test('a key that is refused is told apart', async () => {
    await fault('create', { status: 401 });
    await expect(submit(prompts(1))).rejects.toMatchObject({ code: 'credential_refused', isRetryable: false });
  });

  test('a listing that fails is no proof that there is no batch', async () => {
    const input = await upload(prompts(1));
    await provider.createBatch(input);
    await fault('list', { error_object_200: true });
    await expect(findOwn(input)).rejects.toMatchObject({ code: 'malformed_reply' });
    expect(await findOwn(input)).toHaveLength(1);
  });

  test('a batch unknown just after its create is not_found, and there a moment later', async () => {
    const created = await submit(prompts(1));
    await fault('retrieve', { not_found: true });
    await expect(retrieve(created)).rejects.toMatchObject({ code: 'not_found', isRetryable: true });
    expect((await retrieve(created)).providerBatchId).toBe(created.providerBatchId);
  });

  test('an error object under 200 is no batch', async () => {
    const created = await submit(prompts(1));
    await fault('retrieve', { error_object_200: true });
    await expect(retrieve(created)).rejects.toMatchObject({ code: 'malformed_reply' });
  });

  test.each([
    ['strings', { total: 3, completed: 3, failed: 0 }],
    ['zero', null],
    ['absent', null],
  ])('counts that are %s are read or left out', async (counts, progress) => {
    const ended = await untilEnded(await submit(prompts(3)));
    await fault('retrieve', { counts });
    expect((await retrieve(ended)).progress).toEqual(progress);
  });

  test('a status it does not know is still running', async () => {
    await fault('create', { stuck: { state: 'in_progress' } });
    const created = await submit(prompts(1));
    await fault('retrieve', { native_status: 'archiving' });
    expect(await retrieve(created)).toMatchObject({ phase: 'running', end: null, nativeStatus: 'archiving' });
    await control.batch(created.providerBatchId, { stuck: null });
    const ended = await untilEnded(created);
    await fault('retrieve', { native_status: 'archiving' });
    const end = traits.endOfUnknownStatus;
    expect(await retrieve(ended)).toMatchObject({ phase: end === null ? 'running' : 'ended', end });
  });

  test('reads the same results however the download is cut into chunks and lines end', async () => {
    const ended = await untilEnded(await submit(prompts(5)));
    const plain = await collect(ended);
    expect(plain.size).toBe(5);
    await fault('download', { chunk_bytes: 1, crlf: true });
    expect(await collect(ended)).toEqual(plain);
  });

  test('a download that is cut is connection_lost, and nothing stays open', async () => {
    const ended = await untilEnded(await submit(prompts(50)));
    await fault('download', { cut: { after_bytes: 1000 } });
    const [file] = provider.resultFiles(ended);
    await expect(drain(file)).rejects.toMatchObject({ code: 'connection_lost', isRetryable: true });
    await eventually(repliesEnded);
    expect(await drain(file)).toBeGreaterThan(1000);
  });

  test('a download that goes silent is timed_out, and nothing stays open', async () => {
    const ended = await untilEnded(await submit(prompts(50)));
    await fault('download', { stall: { after_bytes: 1000, ms: 3_600_000 } });
    const [file] = provider.resultFiles(ended);
    const hasty = connect(simulators, { ...TIMEOUTS, idleTimeoutMs: 100 });
    await expect(drain(file, hasty)).rejects.toMatchObject({ code: 'timed_out', isRetryable: true });
    await eventually(repliesEnded);
  });

  test('a call that gets no answer is timed_out, and nothing stays open', async () => {
    const created = await submit(prompts(1));
    await fault('retrieve', { delay_ms: 3_600_000 });
    const hasty = connect(simulators, { ...TIMEOUTS, requestTimeoutMs: 100 });
    await expect(retrieve(created, hasty)).rejects.toMatchObject({ code: 'timed_out', isRetryable: true });
    await eventually(repliesEnded);
  });

  test('a reader that leaves a download closes it', async () => {
    const ended = await untilEnded(await submit(prompts(50)));
    await fault('download', { chunk_bytes: 100, stall: { after_bytes: 1000, ms: 3_600_000 } });
    const [file] = provider.resultFiles(ended);
    if (file === undefined) throw new Error('the batch has no result file');
    for await (const _ of provider.downloadFile({ file, signal })) break;
    await eventually(repliesEnded);
  });
});
