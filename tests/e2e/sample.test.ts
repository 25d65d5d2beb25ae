import { afterAll, beforeAll, expect, test } from 'vitest';
import { type JobAnswer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { prompts } from '../harness/provider-side.ts';
import { soundEnd } from '../harness/sound-end.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

type SampledJob = JobAnswer & {
  readonly sample: { readonly extrapolated_cost: string | null } | null;
  readonly sample_jobs: readonly string[];
};

test('a sample runs to its end, and what it says of the whole is what the whole then costs', async () => {
  const { caller } = await gateway.newTenant({ limit: '1' });
  const draftId = await caller.createJob({ metadata: { team: 'a' } });
  const item = (content: string, index: number) => ({
    custom_id: `row_${index + 1}`,
    request: { messages: [{ role: 'user', content }], max_tokens: 200 },
  });
  await caller.append(draftId, prompts(12, '[[sim:usage=1000,100]]').map(item));
  const path = `/v1/batch-jobs/${draftId}/submit`;
  const { job_id: sampleId } = await caller.call<SampledJob>('POST', path, { sample: 3 });
  await caller.ended(sampleId);
  await gateway.expectSound(sampleId);
  const sampled = await caller.call<SampledJob>('GET', `/v1/batch-jobs/${sampleId}`);
  expect(sampled).toMatchObject({
    status: 'completed',
    counts: { total: 3, completed: 3 },
    cost: { settled: '0.000315' },
  });
  expect(sampled.sample).toEqual({ of_job_id: draftId, items: 3, of_items: 12, extrapolated_cost: '0.00126' });
  const rows = await caller.results(sampleId);
  expect(rows.map((row) => row.custom_id).toSorted()).toEqual(['row_1', 'row_5', 'row_9']);
  const draft = await caller.call<SampledJob>('GET', `/v1/batch-jobs/${draftId}`);
  expect(draft).toMatchObject({ status: 'draft', sample: null, sample_jobs: [sampleId] });
  await caller.submit(draftId);
  const { job } = await soundEnd(gateway, caller, draftId);
  expect(job.cost.settled).toBe(sampled.sample?.extrapolated_cost);
  expect(await caller.budget()).toMatchObject({ held: '0.00', settled: '0.001575', available: '0.998425' });
  expect(await gateway.operator.call('GET', '/v1/operator/ledger/verify')).toMatchObject({ ok: true });
});
