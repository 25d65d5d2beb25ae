import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeGateway, startFakeGateway } from '../testing/fake-gateway.ts';
import { counts, fakeResult } from '../testing/fake-job.ts';
import { type CliOptions, FakeSignals, runCli } from '../testing/run-cli.ts';

let gateway: FakeGateway;
let directory: string;
beforeEach(async () => {
  gateway = await startFakeGateway();
  directory = mkdtempSync(join(tmpdir(), 'batchgate-run-'));
});
afterEach(async () => {
  await gateway.close();
  rmSync(directory, { recursive: true });
});

const ROWS = 'id,q\n7,why?\n8,"how,\nthen?"\n9,when?\n';

function input(text = ROWS, name = 'in.csv'): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

function run(args: readonly string[], options: CliOptions = {}) {
  const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant' };
  return runCli(['run', ...args], { environment, ...options });
}

const ASK = ['--template', 'Q: {{q}}', '--model', 'analysis-small'];

/** The job settles two of three items, then all. */
function letItComplete(): void {
  gateway.steps = [
    { status: 'running', counts: counts(3, { completed: 2 }) },
    { status: 'running', counts: counts(3, { completed: 2 }) },
    { status: 'completed', counts: counts(3, { completed: 3 }), completed_at: '2026-08-19T10:06:00.000Z' },
  ];
}

test('makes a job of the rows, follows it, and writes one line an item', async () => {
  letItComplete();
  const out = join(directory, 'out.jsonl');
  const { code, err, ...said } = await run([input(), ...ASK, '--id-column', 'id', '--out', out]);
  expect(said.out).toBe('completed: all 3 items, 0.00 USD, 1 min 0 s.\n');
  expect(code).toBe(0);
  expect(err).toContain('job_1 running, 2 of 3 settled');
  expect(gateway.job).toMatchObject({ name: 'in.csv', endpoint: 'chat.completions', model: 'analysis-small' });
  const content = (text: string) => ({ messages: [{ role: 'user', content: text }] });
  expect(gateway.manifest).toEqual([
    null,
    { custom_id: '7', request: content('Q: why?') },
    { custom_id: '8', request: content('Q: how,\nthen?') },
    null,
    { custom_id: '9', request: content('Q: when?') },
  ]);
  const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).text)).toEqual(['re 7', 're 8', 're 9']);
  expect(readdirSync(directory).toSorted()).toEqual(['in.csv', 'out.jsonl']);
});

test('sends what all rows share, labels and limits once, with the job', async () => {
  const options = [
    '--system',
    'S',
    '--max-tokens',
    '50',
    '--max-cost',
    '2.50',
    '--storage',
    'hashes',
    '--metadata',
    'a=b=c',
    '--name',
    'N',
    '--deadline',
    '2026-08-20T06:00:00Z',
    '--not-before',
    '2026-08-19T22:00:00+02:00',
    '--no-watch',
  ];
  const { code, out } = await run([input(), ...ASK, ...options]);
  expect([code, out]).toEqual([0, 'job_1 is submitted with 3 items.\n']);
  expect(gateway.job).toMatchObject({ name: 'N', metadata: { a: 'b=c' } });
  expect(gateway.created.at(-1)).toMatchObject({
    request_defaults: { messages: [{ role: 'system', content: 'S' }], max_completion_tokens: 50 },
    max_cost: '2.50',
    storage: 'hashes',
    execution: { deadline: '2026-08-20T06:00:00Z', not_before: '2026-08-19T22:00:00+02:00' },
  });
});

test('results can go to standard output, alone', async () => {
  letItComplete();
  const { code, out, err } = await run([input(), ...ASK, '--out', '-', '--json']);
  expect(code).toBe(0);
  expect(
    out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).custom_id),
  ).toEqual(['row_000001', 'row_000002', 'row_000003']);
  expect(JSON.parse(err)).toMatchObject({ status: 'completed' });
});

test('a job that does not end completed is exit code 1, with its failures in the file', async () => {
  gateway.toResult = (id) => fakeResult(id, { status: 'failed', result: null });
  gateway.steps = [
    { status: 'failed', counts: counts(3, { failed: 3 }), error: { code: 'all_items_failed', message: 'All failed.' } },
  ];
  const out = join(directory, 'out.jsonl');
  const { code, ...said } = await run([input(), ...ASK, '--out', out]);
  expect(code).toBe(1);
  expect(said.out).toBe('failed: 0 completed, 3 failed, 0.00 USD. all_items_failed: All failed.\n');
  expect(readFileSync(out, 'utf8').match(/"status":"failed"/g)).toHaveLength(3);
});

test('reads standard input', async () => {
  const { code } = await run(['-', ...ASK, '--no-watch'], { standardInput: '{"q":"x"}\n' });
  expect(code).toBe(0);
  expect(gateway.job?.name).toBeNull();
  expect(gateway.manifest).toHaveLength(1);
});

test.each([
  [['--template', '{{nope}}', '--model', 'm'], 'in.csv, line 2: no column "nope"'],
  [['--template', '{{q}}', '--model', 'm', '--id-column', 'nope'], 'in.csv, line 2: the column "nope"'],
])('leaves nothing behind where a row is at fault: %j', async (args, message) => {
  const { code, err } = await run([input(), ...args, '--out', join(directory, 'out')]);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(gateway.calls.at(-1)).toBe('DELETE /v1/batch-jobs/job_1');
  expect(readdirSync(directory)).toEqual(['in.csv']);
});

test.each([
  [['--template', '{{q}}'], '--model is needed'],
  [[...ASK, '--endpoint', 'chat'], '--endpoint "chat" is not known'],
  [[...ASK, '--max-tokens', '1.5'], '--max-tokens must be a whole number, at least 1, not "1.5"'],
  [[...ASK, '--deadline', 'tomorrow'], '--deadline must be a time with its zone'],
  [[...ASK, '--storage', 'hash'], '--storage "hash" is not known. Did you mean hashes?'],
  [[...ASK, '--max-cost', '1e3'], '--max-cost must be a plain decimal amount such as 25.00'],
  [[...ASK, '--metadata', 'x'], '--metadata must be KEY=VALUE, not "x"'],
  [[...ASK, '--out', 'x', '--no-watch'], '--out needs the job to be followed'],
  [[...ASK, '--out', 'x', '--validate-only'], '--out needs the job to be followed'],
  [[...ASK, '--endpoint', 'embeddings', '--system', 'S'], 'embeddings takes no --system'],
])('sends nothing with %j', async (args, message) => {
  const { code, err } = await run([input(), ...args]);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(gateway.calls).toEqual([]);
});

test('an empty file is no job', async () => {
  const { code, err } = await run([input('id,q\n'), ...ASK]);
  expect(code).toBe(2);
  expect(err).toContain('in.csv: there is no row in it');
  expect(gateway.calls).toEqual([]);
});

test('deletes a draft whose items are refused', async () => {
  gateway.refusals.push({
    operation: 'PUT manifest',
    status: 400,
    envelope: { error: 'custom_id_invalid', message: 'bad id' },
  });
  const { code, err } = await run([input(), ...ASK]);
  expect(code).toBe(3);
  expect(err).toBe('error: custom_id_invalid: bad id (request id: req_1)\n');
  expect(gateway.job).toBeNull();
});

test.each([
  ['model_unknown', 422, false],
  ['budget_exceeded', 402, true],
  ['spending_suspended', 403, true],
] as const)('where the submit is refused as %s, the draft is kept if that may help', async (error, status, isKept) => {
  gateway.refusals.push({ operation: 'POST submit', status, envelope: { error } });
  const { code, err } = await run([input(), ...ASK]);
  expect(code).toBe(3);
  expect(gateway.job !== null).toBe(isKept);
  expect(err.includes('The draft is kept: "batchgate submit job_1" tries again.')).toBe(isKept);
});

test('tells a refusal that comes after the answer', async () => {
  gateway.steps = [
    { status: 'validating' },
    { status: 'draft', refusal: { error: 'price_unknown', message: 'No price.' } },
  ];
  const { code, err } = await run([input(), ...ASK]);
  expect(code).toBe(3);
  expect(err).toContain('error: price_unknown: No price.');
});

test.each([
  ['analysis-small', 0, 'would be accepted'],
  ['nope', 1, 'model_unknown: Unknown model. (model)'],
])('--validate-only tells about %s and leaves nothing behind', async (model, code, text) => {
  const result = await run([input(), '--template', '{{q}}', '--model', model, '--validate-only']);
  expect([result.code, result.out]).toEqual([code, expect.stringContaining(text)]);
  expect(gateway.job).toBeNull();
  expect(gateway.calls.some((call) => call.includes('submit'))).toBe(false);
});

test('Ctrl-C says how to cancel, a second one leaves; the job goes on', async () => {
  const signals = new FakeSignals();
  const out = join(directory, 'out.jsonl');
  const { code, err } = await run([input(), ...ASK, '--out', out], { signals, onPause: () => signals.emit('SIGINT') });
  expect(code).toBe(130);
  expect(err).toContain('Ctrl-C again leaves, and the job goes on., To stop the job: batchgate cancel job_1');
  expect(err).toContain('job_1 goes on.\n  follow it  batchgate status job_1 --watch\n');
  expect(gateway.job?.status).toBe('queued');
  expect(readdirSync(directory)).toEqual(['in.csv']);
  expect(signals.eventNames()).toEqual([]);
});

test('Ctrl-C before the submit leaves no job', async () => {
  const signals = new FakeSignals();
  async function* rows() {
    yield Buffer.from('{"q":"a"}\n');
    signals.emit('SIGINT');
    yield Buffer.from('{"q":"b"}\n');
  }
  const { code, err } = await run(['-', ...ASK], { signals, standardInput: rows() });
  expect(code).toBe(130);
  expect(err).toContain('Interrupted before the job was submitted');
  expect(gateway.job).toBeNull();
});
