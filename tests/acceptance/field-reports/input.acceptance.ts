import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CHAT, EMBEDDINGS, RESPONSES } from '../../harness/endpoints.ts';
import { type Caller, type JobAnswer, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { createsOf, inputLinesOf } from '../../harness/provider-calls.ts';
import { batchesOf } from '../../harness/provider-side.ts';
import { soundEnd, withStatus } from '../../harness/sound-end.ts';

const MAX_FILE_BYTES = 200 * 1024 * 1024;
const MIB = 1024 * 1024;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.settings({ openai: { maxFileBytes: MAX_FILE_BYTES } }));
afterAll(() => gateway.stop());

interface Refusal {
  readonly error: string;
  readonly message: string;
  readonly field?: string;
  readonly details_count: number;
  readonly details: {
    line?: number;
    index?: number;
    custom_id?: string;
    field?: string;
    error: string;
    message: string;
  }[];
}

async function send(caller: Caller, method: string, path: string, init: RequestInit & { json?: unknown } = {}) {
  const response = await caller.fetch(`/v1/batch-jobs${path === '' ? '' : `/${path}`}`, { method, ...init });
  const body = await response.json();
  return { status: response.status, body, refusal: body as Refusal };
}

const append = (caller: Caller, jobId: string, items: readonly unknown[]) =>
  send(caller, 'POST', `${jobId}/items`, { json: { items } });

const manifest = (caller: Caller, jobId: string, text: string) =>
  send(caller, 'PUT', `${jobId}/manifest`, { body: text, headers: { 'content-type': 'application/x-ndjson' } });

const item = (customId: unknown, text = 'hello', more: Record<string, unknown> = {}) => ({
  custom_id: customId,
  request: { ...CHAT.request(text), ...more },
});

const total = async (caller: Caller, jobId: string) => (await caller.job(jobId)).counts.total;

test('I-01: an id that comes twice, in one call or in a later one, stores nothing of its call', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  const twice = await append(caller, jobId, [item('a'), item('b'), item('a', 'other')]);
  expect(twice).toMatchObject({ status: 400, refusal: { error: 'duplicate_custom_id', details_count: 1 } });
  expect(twice.refusal.details).toMatchObject([{ index: 2, custom_id: 'a' }]);
  expect(await total(caller, jobId)).toBe(0);
  expect((await append(caller, jobId, [item('c')])).body).toMatchObject({ accepted: 1, total: 1 });
  const again = await append(caller, jobId, [item('d'), item('c', 'other')]);
  expect(again).toMatchObject({ status: 409, refusal: { error: 'item_conflict' } });
  expect(again.refusal.details).toMatchObject([{ index: 1, custom_id: 'c' }]);
  expect((await append(caller, jobId, [item('c')])).body).toMatchObject({ accepted: 0, duplicates: 1, total: 1 });
  const lines = [item('x'), item('y'), item('x', 'other')].map((line) => JSON.stringify(line)).join('\n');
  expect(await manifest(caller, jobId, lines)).toMatchObject({
    status: 400,
    refusal: { error: 'duplicate_custom_id', details: [{ line: 3, custom_id: 'x' }] },
  });
  expect((await send(caller, 'POST', `${jobId}/validate`)).body).toMatchObject({ ok: true, estimate: { items: 1 } });
  await caller.submit(jobId);
  await caller.ended(jobId);
  expect((await caller.results(jobId)).map((row) => row.custom_id)).toEqual(['c']);
  await gateway.expectSound(jobId);
});

test.each([
  ['empty', ''],
  ['white space', ' \t '],
  ['white space of other kinds', '\u00a0\u2003\u3000'],
  ['missing', undefined],
  ['null', null],
  ['a number', 7],
  ['a list', ['a']],
  ['too long', 'x'.repeat(513)],
  ['with a line break', 'a\nb'],
  ['half an emoji', '\ud83d'],
  ['an e-mail address', 'jane@example.com'],
])('I-01: an id that is %s is refused with its place, and nothing is stored', async (_kind, customId) => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  const { status, refusal } = await append(caller, jobId, [item('good'), item(customId)]);
  expect(status).toBe(400);
  expect(refusal.details).toMatchObject([{ index: 1 }]);
  expect(refusal.details[0]?.message).not.toBe('');
  expect(await total(caller, jobId)).toBe(0);
});

test('I-03: lines that are no item are findings with their numbers, never a crash, and no good line is stored beside them', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  const bad = [
    'null',
    '[]',
    '"x"',
    '3',
    'true',
    '{"custom_id":"k","body":"text"}',
    '{"custom_id":"k","request":"text"}',
    '{"custom_id":"k","request":[]}',
    '{"custom_id":"k","request":null}',
    '{"custom_id":"k","method":"POST","url":"/v1/chat/completions","body":{"messages":[]}}',
    '{"custom_id":"k","request":{}',
    'hello',
    '{}',
  ];
  const lines = bad.flatMap((line, index) => [JSON.stringify(item(`good_${index}`)), line]);
  for (const call of [manifest, sendLines]) {
    const { status, refusal } = await call(caller, jobId, lines.join('\n'));
    expect(status).toBe(400);
    const faulty = [...new Set(refusal.details.map(({ line }) => line))];
    expect(faulty).toEqual(bad.map((_, index) => 2 * index + 2));
    expect(await total(caller, jobId)).toBe(0);
  }
  const asJson = await append(caller, jobId, [item('good'), null, [], 'x', 3, { custom_id: 'k', request: 'text' }]);
  expect([...new Set(asJson.refusal.details.map(({ index }) => index))]).toEqual([1, 2, 3, 4, 5]);
  expect(await total(caller, jobId)).toBe(0);
});

function sendLines(caller: Caller, jobId: string, text: string) {
  return send(caller, 'POST', `${jobId}/items`, { body: text, headers: { 'content-type': 'application/x-ndjson' } });
}

test.each(['', '\n', '\n\n', '\n \n', '\r\n', '\r\n\r\n', '\n\t\r\n \n'])(
  'I-04: three items with the ending %j are three, in a manifest and in an append',
  async (ending) => {
    const { caller } = await gateway.newTenant();
    const jobId = await caller.createJob();
    const lineEnd = ending.startsWith('\r') ? '\r\n' : '\n';
    const text = (ids: string[]) => ids.map((id) => JSON.stringify(item(id))).join(lineEnd) + ending;
    expect((await manifest(caller, jobId, text(['a', 'b', 'c']))).body).toMatchObject({ total: 3 });
    expect((await sendLines(caller, jobId, text(['d', 'e', 'f']))).body).toMatchObject({ accepted: 3, total: 6 });
  },
);

test('I-04: a blank line in the middle is no item, and counts as a line where one is refused', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  const text = `${JSON.stringify(item('a'))}\n\n \r\n${JSON.stringify(item('b'))}\n`;
  expect((await manifest(caller, jobId, text)).body).toMatchObject({ total: 2 });
  const { refusal } = await manifest(caller, jobId, `${text}\n3\n`);
  expect(refusal.details).toMatchObject([{ line: 6 }]);
});

const SEPARATORS = 'one\u2028two\u2029three\u0085four\u000bfive\u000csix\u001cseven\u{1F600}eight';

test('I-06: characters that others take for line ends come to the provider and back unchanged, one item a line', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  const text = `${SEPARATORS} [[sim:text=${SEPARATORS}]]`;
  const lines = [item('row_1', text), item('row_2', 'plain'), item('row_3', text)];
  await manifest(caller, jobId, lines.map((line) => JSON.stringify(line)).join('\n'));
  await caller.submit(jobId);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { total: 3, completed: 3 }, unmatched_lines: 0 });
  const [sent = []] = await inputLinesOf(gateway, jobId);
  expect(sent.map(({ body }) => body['messages'])).toEqual(lines.map(({ request }) => request['messages']));
  for (const row of [rows[0], rows[2]]) {
    expect(row?.result).toMatchObject({ choices: [{ message: { content: SEPARATORS } }] });
  }
});

test('I-07: half an emoji anywhere in an item is refused with its id, whole ones reach the provider and come back', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  const halves = ['"\\ud83d"', '"a\\ude00b"', '"\\ude00\\ud83d"', '{"deep":["\\ud83d"]}', '{"\\ud83d":1}'];
  for (const half of halves) {
    const line = `{"custom_id":"cut","request":{"messages":[{"role":"user","content":"x"}],"metadata":${half}}}`;
    const { status, refusal } = await sendLines(caller, jobId, `${JSON.stringify(item('whole'))}\n${line}`);
    expect(status).toBe(400);
    expect(refusal.details).toMatchObject([{ line: 2, custom_id: 'cut', error: 'invalid_json' }]);
    expect(refusal.details[0]?.message).toContain('surrogate');
  }
  expect(await total(caller, jobId)).toBe(0);
  await append(caller, jobId, [item('row_1', 'grin \u{1F600} and \ud83d\ude80 [[sim:text=\u{1F600}]]'), item('row_2')]);
  await caller.submit(jobId);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  expect(rows[0]?.result).toMatchObject({ choices: [{ message: { content: '\u{1F600}' } }] });
  const [sent = []] = await inputLinesOf(gateway, jobId);
  expect(JSON.stringify(sent[0]?.body)).toContain('grin \u{1F600} and \u{1F680}');
});

test('I-07: half an emoji in what a whole job shares is refused too', async () => {
  const { caller } = await gateway.newTenant();
  const shared = [{ metadata: { note: '\ud83d' } }, { name: '\ud83d' }, { request_defaults: { user: '\ud83d' } }];
  for (const more of shared) {
    const json = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', ...more };
    expect((await send(caller, 'POST', '', { json })).status).toBe(400);
  }
});

test('I-09: a job over the byte limit of one batch is split until every batch fits, and still reads as one', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.settings({ openai: { maxFileBytes: 10_000 } });
  const jobId = await caller.submitPrompts(Array.from({ length: 8 }, (_, index) => `${index} ${'x'.repeat(4_000)}`));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { total: 8, completed: 8 } });
  const batches = await inputLinesOf(gateway, jobId);
  expect(batches.map((lines) => lines.length)).toEqual([2, 2, 2, 2]);
  const itemNos = batches.flat().map(({ custom_id: id }) => id.split('-').at(-1));
  expect(new Set(itemNos).size).toBe(8);
});

test('I-09: an item that alone is too large for the provider fails alone', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.settings({ openai: { maxFileBytes: 5_000 } });
  const jobId = await caller.submitPrompts(['a', 'b', 'x'.repeat(6_000), 'd', 'e']);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 4, failed: 1 } });
  expect(withStatus(rows, 'failed')).toMatchObject([{ custom_id: 'row_3', error: { code: 'provider_rejected' } }]);
});

test.each([8, 20])('I-09: an item of more than %i MiB is refused with its id and its size', async (mib) => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  const items = [item('small'), item('huge', 'x'.repeat(mib * MIB)), item('other')];
  const asLines = await manifest(caller, jobId, items.map((line) => JSON.stringify(line)).join('\n'));
  for (const { status, refusal } of [await append(caller, jobId, items), asLines]) {
    expect(status).toBe(413);
    expect(refusal.details).toMatchObject([{ index: 1, custom_id: 'huge' }]);
    expect(refusal.details[0]?.message).toMatch(/ \d{7,8} bytes /);
  }
  expect(await total(caller, jobId)).toBe(0);
});

interface Validation {
  readonly ok: boolean;
  readonly findings: Refusal[];
  readonly estimate: { input_tokens: number; reserved: string } | null;
}

const validate = (caller: Caller, jobId: string) => caller.call<Validation>('POST', `/v1/batch-jobs/${jobId}/validate`);

test.each<[string, Record<string, unknown>, Record<string, unknown>, string, string]>([
  ['stream: true', {}, { stream: true }, 'batch_capability_not_supported', 'request.stream'],
  ['a field of the wrong type', {}, { temperature: 'hot' }, 'invalid_item', 'request.temperature'],
  ['no messages', {}, { messages: undefined }, 'invalid_item', 'request.messages'],
  ['a message without a role', {}, { messages: [{ content: 'x' }] }, 'invalid_item', 'request.messages[0].role'],
  ['an unknown model of its own', {}, { model: 'openai/no-such-model' }, 'price_unknown', 'request.model'],
  ['a model of another kind', {}, { model: EMBEDDINGS.model }, 'endpoint_not_supported', 'request.model'],
  ['a job without a known model', { model: 'no-such-model' }, {}, 'model_unknown', 'model'],
])(
  'I-10: %s is found by the dry run as by the submit, and nothing is sent or held',
  async (_kind, job, fields, error, field) => {
    const { caller } = await gateway.newTenant();
    const jobId = await caller.createJob(job);
    await caller.append(jobId, [item('row_1'), item('row_2', 'x', fields)] as never);
    const { ok, findings } = await validate(caller, jobId);
    expect(ok).toBe(false);
    const [found] = findings;
    const submitted = await send(caller, 'POST', `${jobId}/submit`);
    expect(submitted.status).toBeGreaterThanOrEqual(400);
    expect(submitted.status).toBeLessThan(500);
    expect(submitted.refusal).toMatchObject({ error, message: found?.message, field: found?.field });
    expect(submitted.refusal.details).toEqual(found?.details);
    if (field === 'model') expect(found?.field).toBe('model');
    else expect(found?.details).toMatchObject([{ custom_id: 'row_2', index: 1, field }]);
    const draft = await caller.job(jobId);
    expect(draft).toMatchObject({ status: 'draft', cost: { held: '0.00' }, refusal: { error } });
    expect(await caller.budget()).toMatchObject({ held: '0.00', settled: '0.00' });
    expect((await caller.ledger(jobId)).size).toBe(0);
    expect(await createsOf(gateway, jobId)).toEqual([]);
  },
);

test('I-10: a refused job is still a draft, and runs once it is corrected', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  await append(caller, jobId, [item('row_1'), item('row_2', 'x', { stream: true })]);
  expect((await send(caller, 'POST', `${jobId}/submit`)).status).toBe(422);
  await manifest(caller, jobId, [item('row_1'), item('row_2')].map((line) => JSON.stringify(line)).join('\n'));
  expect(await validate(caller, jobId)).toMatchObject({ ok: true, findings: [] });
  await caller.submit(jobId);
  expect((await soundEnd(gateway, caller, jobId)).job).toMatchObject({ status: 'completed', refusal: null });
});

test.each([100, 1])(
  'I-10: lines that the provider names at its own validation fail alone, the rest runs without them (%i named at a time)',
  async (maxListedErrors) => {
    const { caller } = await gateway.newTenant();
    await gateway.simulator.settings({ openai: { maxListedErrors } });
    const bad = '[[sim:invalid_line]]';
    const jobId = await caller.submitPrompts(['a', bad, 'c', 'd', bad, 'f']);
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    await gateway.simulator.settings({ openai: { maxListedErrors: 100 } });
    expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 4, failed: 2 } });
    expect(withStatus(rows, 'failed').map(({ custom_id: id, error }) => [id, error?.code])).toEqual([
      ['row_2', 'invalid_request'],
      ['row_5', 'invalid_request'],
    ]);
    const sent = await inputLinesOf(gateway, jobId);
    expect(sent.map((lines) => lines.length)).toEqual(maxListedErrors === 1 ? [4, 5, 6] : [4, 6]);
  },
);

const image = (bytes: number) => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${Buffer.alloc(bytes, 7).toString('base64')}` },
});
const file = (bytes: number) => ({
  type: 'file',
  file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${Buffer.alloc(bytes, 7).toString('base64')}` },
});
const withPart = (part: (bytes: number) => unknown) => (size: number) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, part(size * 10)] }],
  max_tokens: 20,
});
const text = (size: number) => 'word '.repeat(size / 5);

test.each([
  ['chat text', CHAT, (size: number) => CHAT.request(text(size))],
  ['a responses string', RESPONSES, (size: number) => RESPONSES.request(text(size))],
  ['an embeddings string', EMBEDDINGS, (size: number) => ({ input: text(size) })],
  ['a list of embeddings strings', EMBEDDINGS, (size: number) => ({ input: [text(size / 2), text(size / 2)] })],
  ['a list of token ids', EMBEDDINGS, (size: number) => ({ input: Array(size / 5).fill(42) })],
  ['lists of token ids', EMBEDDINGS, (size: number) => ({ input: [Array(size / 5).fill(42), [1, 2, 3]] })],
  ['an image attached', CHAT, (size: number) => withPart(image)(size * 3)],
  ['a document attached', CHAT, withPart(file)],
])('I-12: %s has an estimate above nothing that grows with its size', async (_shape, { endpoint, model }, request) => {
  const { caller } = await gateway.newTenant({ limit: '100000' });
  const estimates = [];
  for (const size of [1_000, 10_000, 100_000]) {
    const jobId = await caller.createJob({ endpoint, model });
    await caller.append(jobId, [{ custom_id: 'row_1', request: request(size) }]);
    const { ok, estimate } = await validate(caller, jobId);
    expect(ok).toBe(true);
    estimates.push({ tokens: estimate?.input_tokens ?? 0, hold: Number(estimate?.reserved) });
  }
  const [small, middle, large] = estimates;
  expect(small?.tokens).toBeGreaterThan(100);
  expect(small?.hold).toBeGreaterThan(0);
  // A small attachment counts as the floor of its kind, whatever its size.
  expect(middle?.tokens).toBeGreaterThanOrEqual(small?.tokens ?? 0);
  expect(large?.tokens).toBeGreaterThan(5 * (middle?.tokens ?? 0));
  expect(large?.hold).toBeGreaterThan(middle?.hold ?? 0);
});

test('I-12: what a submit holds is what the estimate said', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.createJob();
  await caller.append(jobId, [{ custom_id: 'row_1', request: withPart(image)(100_000) }]);
  const { estimate } = await validate(caller, jobId);
  const submitted: JobAnswer = await caller.submit(jobId);
  expect(submitted.cost.reserved).toBe(estimate?.reserved);
  await soundEnd(gateway, caller, jobId);
  expect(await batchesOf(gateway, jobId)).toHaveLength(1);
});
