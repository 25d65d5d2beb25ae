import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../../simulators/faults.ts';
import {
  ANTHROPIC,
  anthropicMessage,
  atEach,
  type ChatTarget,
  GEMINI,
  geminiResponse,
} from '../../harness/chat-targets.ts';
import { type Caller, startGateway, type TestGateway } from '../../harness/gateway.ts';
import { batchAt, batchesAt } from '../../harness/provider-calls.ts';
import { faultAt, prompts } from '../../harness/provider-side.ts';
import { DOWNLOAD_ROUTES, type SimulatedProvider } from '../../harness/simulated-provider.ts';
import { soundEnd, submitAnswered, withStatus } from '../../harness/sound-end.ts';

type Action = Fault['action'];

const BOTH = [ANTHROPIC, GEMINI];

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
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

/** Lines of any odd shape around a good answer, by how their items end. */
const ODD_LINES: {
  readonly [provider in SimulatedProvider]?: readonly (readonly [string, (id: string) => string])[];
} = {
  anthropic: [
    ['completed', (id) => `\uFEFF${ANTHROPIC.answered(id)}`],
    ['completed', (id) => `  ${ANTHROPIC.answered(id)}\t`],
    ['completed', (id) => ANTHROPIC.answered(id, { text: 'one \u2028 two \u0085 three \u0000 \ud83d' })],
    ['no_provider_detail', (id) => ANTHROPIC.line(id, {})],
    ['no_provider_detail', (id) => ANTHROPIC.line(id, { result: null })],
    ['no_provider_detail', (id) => ANTHROPIC.line(id, { result: 'succeeded' })],
    ['no_provider_detail', (id) => ANTHROPIC.line(id, { result: { type: 'errored', error: null } })],
    ['unknown_provider_error', (id) => ANTHROPIC.line(id, { result: { type: 'errored', error: 'it broke' } })],
    [
      'provider_server_error',
      (id) => ANTHROPIC.line(id, { result: { type: 'errored', error: { type: 'api_error' } } }),
    ],
    ['malformed_result', (id) => ANTHROPIC.line(id, { result: { type: 'succeeded', message: null } })],
    ['malformed_result', (id) => ANTHROPIC.line(id, { result: { type: 'succeeded', message: [anthropicMessage()] } })],
    ['malformed_result', (id) => `${ANTHROPIC.answered(id)}}`],
  ],
  gemini: [
    ['completed', (id) => `\uFEFF${GEMINI.answered(id)}`],
    ['completed', (id) => `  ${GEMINI.answered(id)}\t`],
    ['completed', (id) => GEMINI.answered(id, { text: 'one \u2028 two \u0085 three \u0000 \ud83d' })],
    ['no_provider_detail', (id) => GEMINI.line(id, {})],
    ['no_provider_detail', (id) => GEMINI.line(id, { response: null, error: null })],
    ['no_provider_detail', (id) => GEMINI.line(id, { response: 'text' })],
    ['no_provider_detail', (id) => GEMINI.line(id, { error: {} })],
    ['unknown_provider_error', (id) => GEMINI.line(id, { error: 'it broke' })],
    ['provider_server_error', (id) => GEMINI.line(id, { error: { code: 13 } })],
    ['malformed_result', (id) => GEMINI.line(id, { response: {} })],
    ['malformed_result', (id) => GEMINI.line(id, { response: { candidates: geminiResponse() } })],
    ['malformed_result', (id) => `${GEMINI.answered(id)}}`],
  ],
};

/** Lines that are of no item of the batch, each sure of an answer that would be dear. */
function strangeLines({ answered }: ChatTarget, token: string): string[] {
  const usage = {
    input_tokens: 1_000_000,
    output_tokens: 1_000_000,
    promptTokenCount: 1_000_000,
    candidatesTokenCount: 1_000_000,
  };
  const foreign = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}-1`;
  const ids = [
    undefined,
    null,
    7,
    '',
    'row_1',
    `${token}-5`,
    `${token}-0`,
    `${token}-01`,
    foreign,
    token.toUpperCase(),
  ];
  return [...ids.map((id) => answered(id, { text: 'not yours', usage })), '[1,2]', 'null', 'what is this'];
}

type More = Pick<Fault, 'times'>;

const fault = ({ provider }: ChatTarget, route: string, action: Action, more?: More) =>
  gateway.simulator.faults(faultAt(provider, route, action, more));

const faultAtDownload = (target: ChatTarget, action: Action, more?: More) =>
  fault(target, DOWNLOAD_ROUTES[target.provider], action, more);

const submit = ({ model }: ChatTarget, texts: readonly string[]) => caller.submitPrompts(texts, { model });

test('R-01: a batch of which every request failed ends failed, free of charge, with one event', () =>
  atEach(BOTH, async (target) => {
    const jobId = await submit(target, prompts(6, '[[sim:error=server_error]]'));
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(await batchesAt(gateway, jobId)).toMatchObject([{ status: target.endedStatus }]);
    expect(job).toMatchObject({
      status: 'failed',
      error: { code: 'all_items_failed' },
      counts: { failed: 6 },
      failures: { provider_error: 6 },
      cost: { settled: '0.00' },
    });
    for (const row of rows) {
      expect(row).toMatchObject({ result: null, cost: '0.00', error: { code: 'provider_server_error' } });
      expect(row.error?.message).not.toBe('');
    }
    expect(await countEvents(jobId, 'batch_job.failed')).toBe(1);
  }));

test('R-01: a batch that ended without results ends the job, its items missing and free', () =>
  atEach(BOTH, async (target) => {
    await fault(target, 'batch:results', { no_output_file: true });
    const jobId = await submit(target, prompts(4));
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'failed', failures: { missing_result: 4 }, cost: { settled: '0.00' } });
  }));

test('R-02: answers and failures of one file are told apart', () =>
  atEach(BOTH, async (target) => {
    const failing = ['[[sim:error=rate_limit]]', '[[sim:error=context_length]]', '[[sim:invalid]]'];
    const { job, rows } = await soundEnd(gateway, caller, await submit(target, [...prompts(7), ...failing]));
    expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 7, failed: 3 } });
    expect(job.failures).toEqual({ rate_limited: 1, validation: 2 });
    expect(rows.slice(7).map((row) => row.error?.code)).toEqual([
      'rate_limited',
      'context_too_long',
      'invalid_request',
    ]);
    expect(rows.every((row) => (row.cost === '0.00') === (row.status === 'failed'))).toBe(true);
  }));

test('R-04: lines that cannot be read fail alone, and the other seven are kept and charged', () =>
  atEach(BOTH, async (target) => {
    const damage = {
      empty_body_lines: { index: [0] },
      invalid_utf8_lines: { index: [1] },
      half_last_line: true,
    } as const;
    await faultAtDownload(target, damage as unknown as Action, { times: 'always' });
    const jobId = await submit(target, prompts(10, '[[sim:usage=1000,100]]'));
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({
      status: 'completed_with_errors',
      counts: { completed: 7, failed: 3 },
      failures: { unparseable_result: 3 },
    });
    expect(Number(job.cost.settled)).toBeCloseTo(7 * Number(target.costOf1000And100), 9);
    expect(withStatus(rows, 'completed').map((row) => row.cost)).toEqual(Array(7).fill(target.costOf1000And100));
    expect(withStatus(rows, 'failed').map((row) => [row.error?.code, row.cost])).toEqual(
      Array(3).fill(['malformed_result', '0.00']),
    );
  }));

test.each([
  { how: 'garbled', action: { invalid_utf8_lines: { index: [1] }, garble_lines: { index: [4] } } },
  { how: 'halved', action: { half_last_line: true } },
  { how: 'cut off', action: { cut: { after_bytes: 1_000 } } },
  { how: 'ended as if it were whole', action: { truncate: { after_bytes: 1_000 } } },
  { how: 'answered with an error in its place', action: { error_object_200: true } },
  { how: 'answered with a page of a proxy', action: { status: 502, body: '<html>bad gateway</html>' } },
  { how: 'unknown at first', action: { not_found: true } },
])('R-04: a download that is $how is read again', ({ action }) =>
  atEach(BOTH, async (target) => {
    await faultAtDownload(target, action as Action);
    const { job } = await soundEnd(gateway, caller, await submit(target, prompts(10)));
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 10 }, unmatched_lines: 0, warnings: [] });
  }),
);

test('R-04: lines that come twice are charged once, and an item keeps its good line beside bad copies', () =>
  atEach(BOTH, async (target) => {
    await fault(target, 'batch:results', { duplicate_lines: {} });
    const jobId = await submit(target, prompts(5, '[[sim:usage=1000,100]]'));
    const twice = await soundEnd(gateway, caller, jobId);
    expect(twice.job).toMatchObject({ status: 'completed', counts: { completed: 5 }, unmatched_lines: 0 });
    expect(twice.rows.map((row) => row.cost)).toEqual(Array(5).fill(target.costOf1000And100));
    const half = (id: string) => target.answered(id).slice(0, 80);
    const answered = await submitAnswered(
      gateway,
      caller,
      2,
      (id) => [half(id(1)), target.answered(id(1)), half(id(1)), target.answered(id(2)), target.line(id(2), {})],
      target,
    );
    const { job } = await soundEnd(gateway, caller, answered);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 2 } });
  }));

test('R-04: lines of any odd shape end their items one by one, and text comes through as it was', () =>
  atEach(BOTH, async (target) => {
    const shapes = ODD_LINES[target.provider] ?? [];
    const jobId = await submitAnswered(
      gateway,
      caller,
      shapes.length,
      (id) => shapes.flatMap(([, shape], index) => [shape(id(index + 1)), '', ' ']),
      target,
    );
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(rows.map((row) => row.error?.code ?? row.status)).toEqual(shapes.map(([outcome]) => outcome));
    expect(job.unmatched_lines).toBe(0);
    const content = 'one \u2028 two \u0085 three \u0000 \ud83d';
    expect(rows[2]?.result).toMatchObject({ choices: [{ message: { content } }] });
  }));

test('R-06: a line that says nothing fails its item as such, and no other', () =>
  atEach(BOTH, async (target) => {
    await fault(target, 'batch:results', { zero_status_lines: { index: [2] } });
    const { job, rows } = await soundEnd(gateway, caller, await submit(target, prompts(6)));
    expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 5, failed: 1 } });
    expect(rows[2]).toMatchObject({
      status: 'failed',
      cost: '0.00',
      error: { class: 'provider_error', code: 'no_provider_detail' },
    });
  }));

test('R-10: lines that name no item are kept apart, counted and never charged', () =>
  atEach(BOTH, async (target) => {
    await fault(target, 'batches.create', { stuck: { state: 'in_progress', finished: 0 } });
    const jobId = await submit(target, prompts(4));
    const { id, token } = await batchAt(gateway, jobId);
    const lines = strangeLines(target, token);
    await fault(target, 'batch:results', { append_raw_lines: lines });
    await gateway.simulator.batch(id, { stuck: null });
    const { job } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ status: 'completed', counts: { completed: 4 }, unmatched_lines: lines.length });
    expect(Number(job.cost.settled)).toBeLessThan(0.01);
    expect(job.warnings?.map(({ code }) => code)).toContain('unmatched_lines');
    const seen = await gateway.operator.call<OperatorAnswer>('GET', `/v1/operator/jobs/${jobId}`);
    expect(seen.unmatched.count).toBe(lines.length);
    const raw = seen.unmatched.lines.map(({ raw_base64 }) => Buffer.from(raw_base64, 'base64').toString());
    expect(raw).toEqual(lines);
  }));

test.each([64, 7, 1])('R-12: CRLF line ends in chunks of %i bytes give the same items', (bytes) =>
  atEach(BOTH, async (target) => {
    await fault(target, 'batch:results', { crlf: true });
    await faultAtDownload(target, { chunk_bytes: bytes }, { times: 'always' });
    const jobId = await submit(target, [
      'äöü 🙂',
      '[[sim:text=🙂 \u2028 \u2029 \u0085 ü]]',
      '[[sim:error=server_error]]',
    ]);
    const { job, rows } = await soundEnd(gateway, caller, jobId);
    expect(job).toMatchObject({ counts: { completed: 2, failed: 1 }, unmatched_lines: 0, warnings: [] });
    expect(JSON.stringify(rows[1]?.result)).toContain('🙂 \u2028 \u2029 \u0085 ü');
  }),
);
