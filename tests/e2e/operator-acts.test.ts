import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OperatorJob } from '../../contracts/operator-job.ts';
import { ANTHROPIC } from '../harness/chat-targets.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { batchOf, faultAt, openai, prompts } from '../harness/provider-side.ts';
import { soundEnd, submitHalfDone, submitHeld, withStatus } from '../harness/sound-end.ts';

let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  gateway = await startGateway({ settings: { createDeadlineMs: 600, listingLagMs: 100 } });
  caller = (await gateway.newTenant()).caller;
});
afterAll(() => gateway.stop());

const path = (jobId: string, act = '') => `/v1/operator/jobs/${jobId}${act === '' ? '' : `/${act}`}`;
const view = (jobId: string) => gateway.operator.call<OperatorJob>('GET', path(jobId));
const act = (jobId: string, name: string, wish: object) => gateway.operator.call('POST', path(jobId, name), wish);

async function actsOf(jobId: string, name: string): Promise<OperatorJob['acts']> {
  return (await view(jobId)).acts.filter((entry) => entry.act === name);
}

test('a job whose download hangs delays no other; given up it keeps what was read, and can be read again', async () => {
  const { simulator } = gateway;
  const hanging = { stall: { after_bytes: 10, ms: 3_600_000 } };
  await simulator.faults(openai('files.content', hanging, { times: 'always', match: { kind: 'error' } }));
  const bad = await submitHeld(gateway, caller, [...prompts(2), '[[sim:error=server_error]]']);
  await bad.letGo();
  await eventually(async () => (await caller.job(bad.jobId)).counts.completed === 2);
  const good = await caller.submitPrompts(prompts(3));
  expect((await soundEnd(gateway, caller, good)).job.status).toBe('completed');
  expect((await caller.job(bad.jobId)).status).toBe('finalizing');
  await act(bad.jobId, 'give-up', { reason: 'the file hangs' });
  const { job, rows } = await soundEnd(gateway, caller, bad.jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 2, failed: 1 } });
  expect(withStatus(rows, 'failed').map(({ error, cost }) => [error?.code, cost])).toEqual([['given_up', '0.00']]);
  await simulator.clearFaults();
  for (const times of [1, 2]) {
    await act(bad.jobId, 're-ingest', { reason: 'the file is back' });
    await eventually(async () => (await actsOf(bad.jobId, 're_ingested')).length === times);
  }
  const { unmatched, shards, acts } = await view(bad.jobId);
  expect(unmatched.lines.map(({ file, reason }) => [file, reason])).toEqual([
    [102, 'came after item 3 had ended as given_up'],
  ]);
  expect(shards.map(({ state }) => state)).toEqual(['settled']);
  expect(acts.map((entry) => entry.act)).toEqual([
    ...['give_up', 'gave_up', 're_ingest', 're_ingested', 're_ingest', 're_ingested'],
  ]);
  const again = await soundEnd(gateway, caller, bad.jobId);
  expect([again.job.cost, again.rows]).toEqual([job.cost, rows]);
});

test('a batch that runs is cancelled at its provider when it is given up, and there is nothing to give up twice', async () => {
  const jobId = await submitHalfDone(gateway, caller, { total: 4, finished: 1, mark: 'given up' });
  await act(jobId, 'give-up', { shard: 1, reason: 'nobody waits for it' });
  const { job } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'failed', error: { code: 'given_up' }, counts: { failed: 4 } });
  expect((await batchOf(gateway, jobId)).status).toMatch(/^cancel/);
  expect(await actsOf(jobId, 'gave_up')).toMatchObject([{ actor: 'gateway', details: { cancel: 'asked' } }]);
  const response = await gateway.operator.fetch(path(jobId, 'give-up'), { method: 'POST', json: { reason: 'again' } });
  expect(response.status).toBe(409);
});

/** A batch of somebody else under the same credential, which never ends. */
async function makeStranger(size: number): Promise<string> {
  const params = { model: 'claude-sonnet-4-6', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] };
  const requests = Array.from({ length: size }, (_, index) => ({ custom_id: `their-${index}`, params }));
  const response = await fetch(`${gateway.anthropicUrl}/v1/messages/batches`, {
    method: 'POST',
    headers: { 'x-api-key': 'sim-key', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify({ requests }),
  });
  return ((await response.json()) as { id: string }).id;
}

test('of several batches that may be its own a shard shows the candidates, and takes the one chosen by hand', async () => {
  const { simulator } = gateway;
  const stuck = { state: 'in_progress' as const, finished: 0 };
  await simulator.faults(
    faultAt('anthropic', 'batches.create', { stuck }),
    faultAt('anthropic', 'batches.create', { stuck, drop_after: true }),
  );
  const stranger = await makeStranger(3);
  const jobId = await caller.submitPrompts(prompts(3), { model: ANTHROPIC.model });
  const candidates = await eventually(async () => {
    const { shards } = await view(jobId);
    return shards[0]?.state === 'indeterminate' ? shards[0].batches[0]?.candidates : null;
  });
  const ids = candidates.map(({ provider_batch_id: id }) => id);
  expect(ids).toHaveLength(2);
  expect(ids).toContain(stranger);
  const own = ids.find((id) => id !== stranger) ?? '';
  await act(jobId, 'resolve', { shard: 1, provider_batch_id: own, reason: 'the other one is known' });
  await eventually(async () => (await actsOf(jobId, 'resolved')).length === 1);
  await simulator.batch(own, { stuck: null });
  expect(await caller.ended(jobId)).toMatchObject({ status: 'completed', counts: { completed: 3 } });
  const made = (await simulator.journal({ route: 'batches.create' })).filter(
    ({ provider }) => provider === 'anthropic',
  );
  expect(made).toHaveLength(2);
});
