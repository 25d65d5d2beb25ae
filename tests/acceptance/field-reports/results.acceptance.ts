import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import type { Fault } from '../../../simulators/faults.ts';
import { eventually } from '../../harness/eventually.ts';
import { startGateway, type TestGateway } from '../../harness/gateway.ts';
import { completion, resultLine } from '../../harness/openai-lines.ts';
import { attemptTokens, batchesOf, batchOf, openai, prompts } from '../../harness/provider-side.ts';
import { lockRows } from '../../harness/row-lock.ts';
import { soundEnd, submitAnswered, submitHalfDone, withStatus } from '../../harness/sound-end.ts';

type Action = Fault['action'];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.simulator.clearFaults());
afterAll(() => gateway.stop());

interface OperatorAnswer {
  unmatched: { count: number; lines: { reason: string; raw_base64: string }[] };
}

async function countEvents(jobId: string, type: string): Promise<number> {
  const { rows } = await gateway.database.db.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM events WHERE type = $1 AND data ->> 'job_id' = $2`,
    [type, jobId],
  );
  return rows[0]?.count ?? 0;
}

test('R-01: a batch of which every request failed ends failed, free of charge, with one event', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.submitPrompts(prompts(6, '[[sim:error=server_error]]'));
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(await batchesOf(gateway, jobId)).toMatchObject([{ status: 'completed', output_file_id: null }]);
  expect(job).toMatchObject({
    status: 'failed',
    error: { code: 'all_items_failed' },
    counts: { failed: 6 },
    failures: { provider_error: 6 },
  });
  for (const row of rows) {
    expect(row).toMatchObject({ result: null, cost: '0.00', error: { code: 'provider_server_error' } });
    expect(row.error?.message).not.toBe('');
  }
  expect(await caller.budget()).toMatchObject({ held: '0.00', settled: '0.00' });
  expect(await countEvents(jobId, 'batch_job.failed')).toBe(1);
});

test.each([
  { lost: 'its output file', action: { no_output_file: true as const }, completed: 0, missing: 4, failed: 2 },
  { lost: 'its error file', action: { no_error_file: true as const }, completed: 4, missing: 2, failed: 0 },
  {
    lost: 'any file',
    action: { no_output_file: true as const, no_error_file: true as const },
    completed: 0,
    missing: 6,
    failed: 0,
  },
])('R-01: a completed batch without $lost ends, and what was in it is missing', async (scene) => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batch:results', scene.action));
  const jobId = await caller.submitPrompts([...prompts(4), ...prompts(2, '[[sim:error=server_error]]')]);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job.counts).toMatchObject({ completed: scene.completed, failed: scene.missing + scene.failed });
  expect(job.failures['missing_result']).toBe(scene.missing);
  const missing = rows.filter((row) => row.error?.code === 'missing_result');
  expect(missing.every((row) => row.cost === '0.00')).toBe(true);
});

const MIXED: { place: string; action: Action }[] = [
  { place: 'as the provider does it', action: {} },
  { place: 'with a failure in the output file', action: { move_lines: { containing: ['"error":'], to: 'output' } } },
  { place: 'with all lines in the error file', action: { move_lines: { file: 'output', to: 'error' } } },
];

test.each(MIXED)('R-02: both files are read, $place', async ({ action }) => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batch:results', action));
  const failing = ['[[sim:error=rate_limit]]', '[[sim:error=context_length]]', '[[sim:invalid]]'];
  const jobId = await caller.submitPrompts([...prompts(7), ...failing]);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 7, failed: 3 } });
  expect(job.failures).toEqual({ rate_limited: 1, validation: 2 });
  expect(rows.slice(7).map((row) => row.error?.code)).toEqual(['rate_limited', 'context_too_long', 'invalid_request']);
  expect(rows.every((row) => row.error === null || row.error.message !== '')).toBe(true);
});

const DAMAGE: Action = {
  empty_body_lines: { index: [0] },
  invalid_utf8_lines: { index: [1] },
  half_last_line: 'output',
};

test('R-04: lines that cannot be read fail alone, and the other seven are kept and charged', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('files.content', DAMAGE, { times: 'always' }));
  const jobId = await caller.submitPrompts(prompts(10, '[[sim:usage=1000,100]]'));
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 7, failed: 3 } });
  expect(job.cost.settled).toBe('0.000735');
  expect(job.failures).toEqual({ unparseable_result: 3 });
  expect(withStatus(rows, 'failed').map((row) => row.error?.code)).toEqual(Array(3).fill('malformed_result'));
  // What came with a readable usage is billed by the provider; the two unreadable lines said none.
  expect(withStatus(rows, 'failed').map((row) => row.cost)).toEqual(['0.00', '0.00', '0.00']);
});

test('R-04: damage done by one download alone is mended by the next', async () => {
  const { caller } = await gateway.newTenant();
  const action = {
    invalid_utf8_lines: { index: [1] },
    garble_lines: { index: [4] },
    half_last_line: 'output',
  } as const;
  await gateway.simulator.faults(openai('files.content', action as unknown as Action));
  const jobId = await caller.submitPrompts(prompts(10));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 10 }, unmatched_lines: 0, warnings: [] });
});

test.each([
  { how: 'cut off', action: { cut: { after_bytes: 1_000 } } },
  { how: 'ended as if it were whole', action: { truncate: { after_bytes: 1_000 } } },
  { how: 'answered with an error in its place', action: { error_object_200: true as const } },
  { how: 'answered with a page of a proxy', action: { status: 502, body: '<html>bad gateway</html>' } },
])('R-04: a download that is $how is read again', async ({ action }) => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('files.content', action));
  const jobId = await caller.submitPrompts(prompts(10));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 10 }, unmatched_lines: 0 });
});

test('R-04: an item keeps its good line, whatever unreadable copies stand around it', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 3, finished: 0 });
  const [token] = await attemptTokens(gateway, jobId);
  const half = `{"id": "batch_req_1", "custom_id": "${token}-1", "response": {"status_code": 200, "bo`;
  await gateway.simulator.faults(
    openai('batch:results', {
      move_lines: { index: [0], to: 'error' },
      append_raw_lines: { file: 'output', lines: [half, half] },
    }),
  );
  const batch = await batchOf(gateway, jobId);
  await gateway.simulator.batch(batch.id, { stuck: null });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 3 } });
});

test('R-04: lines of any odd shape end their items one by one, and text comes through as it was', async () => {
  const { caller } = await gateway.newTenant();
  const usage = { prompt_tokens: 1000, completion_tokens: 100 };
  const body = completion({ usage });
  const line = (id: string, rest: object) => JSON.stringify({ custom_id: id, ...rest });
  const said = (id: string, text: string) => resultLine(id, completion({ usage, text: '@' })).replace('"@"', text);
  const shapes: [string, (id: string) => string][] = [
    ['completed', (id) => `\uFEFF${resultLine(id, body)}`],
    ['no_provider_detail', (id) => line(id, {})],
    ['no_provider_detail', (id) => line(id, { response: null, error: null })],
    ['malformed_result', (id) => line(id, { response: { status_code: 200, body: null } })],
    ['malformed_result', (id) => line(id, { response: { status_code: 200, body: 'text' } })],
    ['malformed_result', (id) => line(id, { response: { status_code: 200, body: [body] } })],
    ['completed', (id) => line(id, { response: { status_code: '200', body }, error: null })],
    ['completed', (id) => line(id, { response: { body } })],
    ['unknown_provider_error', (id) => line(id, { response: null, error: 'it broke' })],
    ['provider_server_error', (id) => line(id, { response: { status_code: 500, body: '' }, error: {} })],
    ['completed', (id) => `  ${resultLine(id, body)}\t`],
    ['completed', (id) => said(id, '"\\u0000 and \\ud83d alone"')],
    ['completed', (id) => said(id, '"12345678901234567890 \u2028 1e400"')],
    ['malformed_result', (id) => `${resultLine(id, body)}}`],
  ];
  const jobId = await submitAnswered(gateway, caller, shapes.length, (id) =>
    shapes.flatMap(([, shape], index) => [shape(id(index + 1)), '', ' ']),
  );
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(rows.map((row) => row.error?.code ?? row.status)).toEqual(shapes.map(([outcome]) => outcome));
  expect(job.unmatched_lines).toBe(0);
  expect(rows[11]?.result).toMatchObject({ choices: [{ message: { content: '\u0000 and \ud83d alone' } }] });
  expect(rows[12]?.result).toMatchObject({ choices: [{ message: { content: '12345678901234567890 \u2028 1e400' } }] });
});

test('R-06: an error line that says nothing fails its item as such, and no other', async () => {
  const { caller } = await gateway.newTenant();
  await gateway.simulator.faults(openai('batch:results', { zero_status_lines: { index: [2], to: 'error' } }));
  const jobId = await caller.submitPrompts(prompts(6));
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 5, failed: 1 } });
  expect(rows[2]).toMatchObject({
    status: 'failed',
    cost: '0.00',
    error: { class: 'provider_error', code: 'no_provider_detail' },
  });
});

test('R-10: lines that name no item are kept apart, counted and never charged', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await submitHalfDone(gateway, caller, { total: 4, finished: 0 });
  const [token = ''] = await attemptTokens(gateway, jobId);
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000, total_tokens: 2_000_000 };
  const message = { role: 'assistant', content: 'not yours' };
  const body = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
  const line = (customId?: unknown) =>
    JSON.stringify({ id: 'x', custom_id: customId, response: { status_code: 200, body }, error: null });
  const lines = [
    line(),
    line(null),
    line(7),
    line(''),
    line('row_1'),
    line(`${token}-5`),
    line(`${token}-0`),
    line(`${token}-01`),
    line(`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}-1`),
    line(token.toUpperCase()),
    '[1,2]',
    'null',
    'what is this',
  ];
  await gateway.simulator.faults(openai('batch:results', { append_raw_lines: lines }));
  const batch = await batchOf(gateway, jobId);
  await gateway.simulator.batch(batch.id, { stuck: null });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 }, unmatched_lines: lines.length });
  expect(Number(job.cost.settled)).toBeLessThan(0.01);
  expect(job.warnings?.map(({ code }) => code)).toContain('unmatched_lines');
  const seen = await gateway.operator.call<OperatorAnswer>('GET', `/v1/operator/jobs/${jobId}`);
  expect(seen.unmatched.count).toBe(lines.length);
  const raw = seen.unmatched.lines.map(({ raw_base64 }) => Buffer.from(raw_base64, 'base64').toString());
  expect(raw).toEqual(lines);
});

test.each([64, 7, 1])('R-12: CRLF line ends in chunks of %i bytes give the same items', async (bytes) => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.clearJournal();
  await simulator.faults(
    openai('batch:results', { crlf: true }),
    openai('files.content', { chunk_bytes: bytes }, { times: 'always' }),
  );
  const jobId = await caller.submitPrompts([
    'äöü 🙂',
    '[[sim:text=🙂 \u2028 \u2029 \u0085 ü]]',
    '[[sim:error=server_error]]',
  ]);
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ counts: { completed: 2, failed: 1 }, unmatched_lines: 0 });
  expect(JSON.stringify(rows[1]?.result)).toContain('🙂 \u2028 \u2029 \u0085 ü');
  const downloads = await simulator.journal({ route: 'files.content' });
  expect(downloads).toHaveLength(2);
});

test('R-12: no download is left open after failures in the middle of it', async () => {
  const { simulator } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.clearJournal();
  await simulator.faults(
    openai('files.content', { cut: { after_bytes: 700 } }),
    openai('files.content', { error_object_200: true }),
    openai('files.content', { garble_lines: 3, half_last_line: true, crlf: true, chunk_bytes: 1 }),
  );
  const jobId = await caller.submitPrompts(prompts(5));
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job.status).toBe('completed');
  await eventually(async () =>
    (await simulator.journal({ route: 'files.content' })).every((entry) => entry.ended_at !== null),
  );
});

test('X-05: lines staged and then lost, as in a crash of the database, are read again and not called missing', async () => {
  const { simulator, database } = gateway;
  const { caller } = await gateway.newTenant();
  await simulator.clearJournal();
  await simulator.faults(
    openai('files.content', { truncate: { after_bytes: 0 } }),
    openai('files.content', { stall: { after_bytes: 500, ms: 3_600_000 } }),
  );
  const jobId = await caller.submitPrompts(prompts(10));
  await eventually(async () =>
    (await simulator.journal({ route: 'files.content' })).slice(1).some((entry) => entry.ended_at === null),
  );
  const sql = 'SELECT FROM job_progress WHERE job_id = $1 FOR UPDATE';
  const lock = await lockRows(database.db, sql, [toUuid('job', jobId)]);
  try {
    await simulator.advance(3_600_000);
    await eventually(() => lock.isWantedBySomeone());
    await database.db.pool.query('TRUNCATE result_stage');
  } finally {
    await lock.release();
  }
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed', counts: { completed: 10 } });
});
