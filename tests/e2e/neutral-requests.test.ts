import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { answerOf, neutralItems } from '../harness/neutral-requests.ts';

const ITEMS = neutralItems(3_000);
const MANIFEST = ITEMS.map((item) => `${JSON.stringify(item)}\n`).join('');
const MODELS = ['openai/gpt-5.6-luna', 'anthropic/claude-sonnet-4-6', 'gemini/gemini-3.5-flash'] as const;

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway();
  ({ caller } = await gateway.newTenant());
});
afterAll(() => gateway.stop());

/** Answers by custom id of the manifest run on a model. */
async function run(model: string): Promise<Map<string, unknown>> {
  const jobId = await caller.createJob({ model });
  const uploaded = await caller.fetch(`/v1/batch-jobs/${jobId}/manifest`, {
    method: 'PUT',
    headers: { 'content-type': 'application/x-ndjson' },
    body: MANIFEST,
  });
  expect(await uploaded.json()).toMatchObject({ total: ITEMS.length });
  const submitted = await caller.submit(jobId);
  expect(submitted.status).not.toBe('draft');
  const ended = await caller.ended(jobId, 60_000);
  expect(ended).toMatchObject({ status: 'completed', counts: { total: ITEMS.length, completed: ITEMS.length } });
  await gateway.expectSound(jobId);
  const rows = await caller.results(jobId);
  return new Map(rows.map((row) => [row.custom_id, answerOf(row.result)]));
}

test('one manifest of neutral requests gets the same answers, by the same ids, from every provider', async () => {
  const [openai, anthropic, gemini] = await Promise.all(MODELS.map(run));
  expect([...(openai?.keys() ?? [])].sort()).toEqual(ITEMS.map((item) => item.custom_id).sort());
  expect(anthropic).toEqual(openai);
  expect(gemini).toEqual(openai);
}, 120_000);
