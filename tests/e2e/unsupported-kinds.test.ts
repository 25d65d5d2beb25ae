import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterAll(() => gateway.stop());

const SAY_HI = { messages: [{ role: 'user', content: 'Hi' }] };
const LOOK_UP = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } };

function withPart(part: Record<string, unknown>): Record<string, unknown> {
  return { messages: [{ role: 'user', content: [{ type: 'text', text: 'See' }, part] }] };
}

/** One request of each kind that some provider cannot run, the exact place of it, and who refuses it. */
const KINDS: readonly (readonly [kind: string, request: unknown, place: string, refusedBy: string])[] = [
  ['stream', { ...SAY_HI, stream: true }, 'request.stream', 'openai anthropic gemini'],
  ['seed', { ...SAY_HI, seed: 7 }, 'request.seed', 'anthropic'],
  ['temperature', { ...SAY_HI, temperature: 0 }, 'request.temperature', 'anthropic'],
  ['top_p', { ...SAY_HI, top_p: 0.5 }, 'request.top_p', 'anthropic'],
  ['penalty', { ...SAY_HI, presence_penalty: 1 }, 'request.presence_penalty', 'anthropic'],
  ['choices', { ...SAY_HI, n: 2 }, 'request.n', 'anthropic'],
  ['json_mode', { ...SAY_HI, response_format: { type: 'json_object' } }, 'request.response_format', 'anthropic'],
  ['logprobs', { ...SAY_HI, logprobs: true }, 'request.logprobs', 'anthropic gemini'],
  ['logit_bias', { ...SAY_HI, logit_bias: { 50256: -100 } }, 'request.logit_bias', 'anthropic gemini'],
  ['metadata', { ...SAY_HI, metadata: { a: 'b' } }, 'request.metadata', 'anthropic gemini'],
  ['store', { ...SAY_HI, store: true }, 'request.store', 'anthropic gemini'],
  ['user', { ...SAY_HI, user: 'u1' }, 'request.user', 'gemini'],
  [
    'one call at a time',
    { ...SAY_HI, parallel_tool_calls: false, tools: [LOOK_UP] },
    'request.parallel_tool_calls',
    'gemini',
  ],
  ['tier', { ...SAY_HI, service_tier: 'priority' }, 'request.service_tier', 'openai anthropic gemini'],
  ['spoken', { ...SAY_HI, modalities: ['text', 'audio'] }, 'request.modalities', 'openai anthropic gemini'],
  ['web search', { ...SAY_HI, web_search_options: {} }, 'request.web_search_options', 'openai anthropic gemini'],
  ['forced tool', { ...SAY_HI, tools: [LOOK_UP], tool_choice: 'required' }, 'request.tool_choice', 'anthropic'],
  [
    'custom tool',
    { ...SAY_HI, tools: [LOOK_UP, { type: 'custom', custom: { name: 'x' } }] },
    'request.tools[1].type',
    'anthropic gemini',
  ],
  ['unheard of', { ...SAY_HI, mood: 'sunny' }, 'request.mood', 'anthropic gemini'],
  [
    'name',
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'user', content: 'Ho', name: 'Jo' },
      ],
    },
    'request.messages[1].name',
    'anthropic gemini',
  ],
  [
    'audio',
    withPart({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
    'request.messages[0].content[1].input_audio',
    'openai anthropic gemini',
  ],
  [
    'file id',
    withPart({ type: 'file', file: { file_id: 'file-1' } }),
    'request.messages[0].content[1].file.file_id',
    'anthropic gemini',
  ],
  [
    'image detail',
    withPart({ type: 'image_url', image_url: { url: 'https://images.example/a.png', detail: 'high' } }),
    'request.messages[0].content[1].image_url.detail',
    'anthropic',
  ],
];

const MODELS = {
  openai: 'openai/gpt-5.6-luna',
  anthropic: 'anthropic/claude-sonnet-5-5',
  gemini: 'gemini/gemini-3.5-flash',
} as const;

interface Refusal {
  error: string;
  field: string;
  details: { custom_id: string; field: string; error: string; message: string }[];
}
interface ValidationAnswer {
  ok: boolean;
  estimate: unknown;
  findings: Refusal[];
}

async function draft(model: string): Promise<string> {
  const jobId = await caller.createJob({ model });
  await caller.append(
    jobId,
    KINDS.map(([kind, request]) => ({ custom_id: kind, request })),
  );
  return jobId;
}

test.each(Object.entries(MODELS))(
  '%s: validate lists one item of each kind that it cannot run, at its exact place, and submit finds the same',
  async (provider, model) => {
    const before = { budget: await caller.budget(), calls: await gateway.simulator.journal({}) };
    const jobId = await draft(model);
    const { ok, findings, estimate } = await caller.call<ValidationAnswer>('POST', `/v1/batch-jobs/${jobId}/validate`);
    expect([ok, estimate]).toEqual([false, null]);
    const found = findings.flatMap(({ details }) => details.map((row) => [row.custom_id, row.field, row.error]));
    const expected = KINDS.filter(([, , , refusedBy]) => refusedBy.includes(provider)).map(([kind, , place]) => [
      kind,
      place,
      'batch_capability_not_supported',
    ]);
    expect(found.sort()).toEqual(expected.sort());

    const refused = await caller.fetch(`/v1/batch-jobs/${jobId}/submit`, { method: 'POST' });
    expect(refused.status).toBe(422);
    const [first] = findings;
    expect(await refused.json()).toMatchObject({ error: first?.error, field: first?.field, details: first?.details });
    expect(await caller.job(jobId)).toMatchObject({ status: 'draft' });
    expect(await caller.budget()).toEqual(before.budget);
    expect(await gateway.simulator.journal({})).toEqual(before.calls);
  },
);

test('a request that has more than one reason against it is told all of them', async () => {
  const jobId = await caller.createJob({ model: MODELS.anthropic });
  const request = { ...SAY_HI, seed: 1, n: 3, stream: true };
  await caller.append(jobId, [{ custom_id: 'a', request }]);
  const { findings } = await caller.call<ValidationAnswer>('POST', `/v1/batch-jobs/${jobId}/validate`);
  expect(findings.flatMap(({ details }) => details.map(({ field }) => field)).sort()).toEqual([
    'request.n',
    'request.seed',
    'request.stream',
  ]);
});
