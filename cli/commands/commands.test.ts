import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeGateway, startFakeGateway } from '../testing/fake-gateway.ts';
import { counts, fakeJob, fakeResult } from '../testing/fake-job.ts';
import { FakeSignals, runCli } from '../testing/run-cli.ts';

let gateway: FakeGateway;
beforeEach(async () => {
  gateway = await startFakeGateway();
  gateway.job = fakeJob({ status: 'running', counts: counts(3, { completed: 2 }) });
  gateway.manifest.push(...['a', 'b', 'c'].map((custom_id) => ({ custom_id, request: {} })));
});
afterEach(() => gateway.close());

function run(...args: string[]) {
  const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant', BATCHGATE_OPERATOR_KEY: 'operator' };
  return runCli(args, { environment });
}

test('jobs lists jobs in a table, or each as a line of JSON', async () => {
  const { out } = await run('jobs', '--status', 'running', '--metadata', 'team=a b');
  expect(out.split('\n')[1]?.split(/ {2,}/)).toEqual([
    'job_1',
    'running',
    '2/3',
    '0',
    '0.00 USD',
    'analysis-small',
    '2026-08-19 10:00:00Z',
    '-',
  ]);
  expect(gateway.calls[0]).toBe('GET /v1/batch-jobs?metadata[team]=a+b&status=running&limit=20');
  expect(JSON.parse((await run('jobs', '--json')).out)).toEqual(gateway.job);
  gateway.job = null;
  expect(await run('jobs')).toEqual({ code: 0, out: '', err: 'There is no such job.\n' });
});

test('jobs refuses a status that does not exist', async () => {
  const { code, err } = await run('jobs', '--status', 'runing');
  expect([code, err]).toEqual([2, 'error: --status "runing" is not known. Did you mean running?\n']);
});

test('status shows what there is to know of a job', async () => {
  const cancel = { requested_at: '2026-08-19T10:06:00.000Z', by: null, reason: 'wrong', outcome: 'partial' as const };
  gateway.job = fakeJob({
    status: 'cancelled',
    waiting: { reason: 'no credential', since: '2026-08-19T10:05:00.000Z' },
    counts: counts(3, { completed: 1, cancelled: 2 }),
    failures: { cancelled: 2 },
    cancel,
    warnings: [{ code: 'unmatched_lines', message: 'two' }],
    metadata: { team: 'a' },
  });
  const { out } = await run('status', 'job_1');
  for (const line of [
    /^status +cancelled$/m,
    /^waiting +no credential, since 2026-08-19 10:05:00Z$/m,
    /^items +3: 1 completed, 2 cancelled$/m,
    /^cancel +asked for 2026-08-19 10:06:00Z: partial$/m,
    /^cancel reason +wrong$/m,
    /^warning +unmatched_lines: two$/m,
    /^metadata +team=a$/m,
  ]) {
    expect(out).toMatch(line);
  }
  expect(JSON.parse((await run('status', 'job_1', '--json')).out)).toEqual(gateway.job);
});

test('status --watch follows a job to its end', async () => {
  gateway.steps = [{}, { status: 'completed', counts: counts(3, { completed: 3 }) }];
  const { code, out } = await run('status', 'job_1', '--watch');
  expect([code, out]).toEqual([0, 'completed: all 3 items, 0.00 USD.\n']);
});

test('results gives what has settled so far', async () => {
  const { code, out } = await run('results', 'job_1', '--status', 'completed');
  expect(code).toBe(0);
  expect(
    out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).custom_id),
  ).toEqual(['a', 'b']);
  expect(gateway.calls[0]).toContain('status=completed');
});

test('results --follow goes on to the end of the job and writes the file whole', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'batchgate-results-'));
  const out = join(directory, 'out.jsonl');
  try {
    const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant' };
    const onPause = () => {
      gateway.job = fakeJob({ status: 'completed', counts: counts(3, { completed: 3 }) });
    };
    const { err } = await runCli(['results', 'job_1', '--follow', '--out', out], { environment, onPause });
    expect(err).toBe(`3 results written to ${out}.\n`);
    expect(readFileSync(out, 'utf8').trimEnd().split('\n')).toHaveLength(3);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('results --follow leaves at Ctrl-C', async () => {
  const signals = new FakeSignals();
  const environment = { BATCHGATE_URL: gateway.url, BATCHGATE_KEY: 'tenant' };
  const onPause = () => signals.emit('SIGINT');
  expect((await runCli(['results', 'job_1', '--follow'], { environment, signals, onPause })).code).toBe(130);
});

test('items shows one item, whatever its id', async () => {
  gateway.toResult = (id) => fakeResult(id);
  const { out } = await run('items', 'job_1', '../x?y');
  expect(out).toMatch(/^item +\.\.\/x\?y$/m);
  expect(out).toMatch(/^text +re \.\.\/x\?y$/m);
  expect(out).toMatch(/^cost +0\.0001 USD$/m);
});

test('cancel asks with a reason', async () => {
  const { code, out } = await run('cancel', 'job_1', '--reason', 'wrong prompt');
  expect([code, out]).toEqual([0, 'job_1 is asked to stop; follow it with "batchgate status job_1 --watch".\n']);
  expect(gateway.job?.cancel?.reason).toBe('wrong prompt');
});

test('submit submits a draft', async () => {
  expect(await run('submit', 'job_1')).toEqual({ code: 0, out: 'job_1 is queued.\n', err: '' });
});

test('validate tells what a submit would say', async () => {
  expect(await run('validate', 'job_1')).toMatchObject({ code: 0, out: 'would be accepted\n' });
  gateway.job = fakeJob({ model: 'nope' });
  expect(await run('validate', 'job_1')).toMatchObject({ code: 1, out: expect.stringContaining('would be refused\n') });
});

test('ledger shows entries in the order of time', async () => {
  const entry = {
    item_id: null,
    custom_id: null,
    ordinal: 1,
    amount: '1.10',
    currency: 'USD',
    actor: 'key_1',
    cause: 'submit',
    account: 'tenant' as const,
  };
  gateway.ledger = [
    { ...entry, event: 'batch.released', created_at: '2026-08-19T10:09:00.000Z' },
    { ...entry, event: 'batch.reserved', created_at: '2026-08-19T10:05:00.000Z' },
  ];
  const { out } = await run('ledger', 'job_1');
  expect(out.match(/batch\.\w+/g)).toEqual(['batch.reserved', 'batch.released']);
  expect(gateway.calls[0]).toContain('level=job');
  const json = await run('ledger', 'job_1', '--json');
  expect(
    json.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(gateway.ledger);
  expect(gateway.calls[1]).not.toContain('level=');
});

test('ledger verify uses the key of an operator and ends as the ledger does', async () => {
  expect(await run('ledger', 'verify')).toMatchObject({
    code: 0,
    out: 'everything adds up: 2 charges of 1 job computed again.\n',
  });
  const differences = [{ subject: 'job_1', check: 'held', found: '1.00', expected: '0.00' }];
  gateway.verification = { ok: false, jobs: 1, items: 2, differences };
  const { code, out } = await run('ledger', 'verify', '--job', 'job_1');
  expect(code).toBe(1);
  expect(out).toMatch(/^1 difference\n/);
  expect(out).toMatch(/job_1 +held +1\.00 +0\.00/);
  expect(gateway.keys).toEqual(['operator', 'operator']);
  expect(gateway.calls[1]).toBe('GET /v1/operator/ledger/verify?job_id=job_1');
});

test('poll-now uses the key of an operator', async () => {
  expect(await run('poll-now', 'job_1')).toMatchObject({ code: 0, out: 'job_1 asks its provider now.\n' });
  expect(gateway.keys).toEqual(['operator']);
});

test('budgets shows what is left', async () => {
  const { out } = await run('budgets');
  const amounts = ['1000.00', '0.05', '0.25', '999.70', 'USD'];
  expect(out.split('\n')[1]?.split(/ {2,}/)).toEqual(['tenant tenant_local', 'total', ...amounts, 'at 80 %, 100 %']);
});

test.each([
  [['usage', '--level', 'line'], '--level "line" is not known'],
  [['usage', 'job_1', '--from', '2026-08-01'], '--from is for the usage of all jobs: name none.'],
  [['usage', '--from', 'yesterday'], '--from must be a day such as 2026-08-01'],
  [['usage', '--format', 'xml'], '--format "xml" is not known'],
  [['ledger', 'job_1', '--job', 'x'], '--job goes with "ledger verify".'],
  [['ledger', 'job_1', '--level', 'items'], '--level "items" is not known. Did you mean item?'],
])('%j is refused before anything is asked', async (args, message) => {
  const { code, err } = await run(...args);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(gateway.calls).toEqual([]);
});

test('a refusal is told in one line, or as JSON', async () => {
  const refusal = {
    operation: 'GET job_1',
    status: 404,
    envelope: { error: 'not_found' as const, message: 'No such job.' },
  };
  gateway.refusals.push(refusal, refusal);
  expect(await run('status', 'job_1')).toEqual({
    code: 3,
    out: '',
    err: 'error: not_found: No such job. (request id: req_1)\n',
  });
  const { code, err } = await run('status', 'job_1', '--json');
  expect(code).toBe(3);
  expect(JSON.parse(err)).toEqual({ error: 'not_found', message: 'No such job.', request_id: 'req_1', exit_code: 3 });
});
