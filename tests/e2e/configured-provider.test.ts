import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readWorkerConfig, type WorkerConfig } from '../../config/env.ts';
import { compatibleProviders } from '../../providers/environment-settings.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { soundEnd } from '../harness/sound-end.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'adding-a-provider.md'), 'utf8');
const MODEL = 'groq/openai/gpt-oss-120b';

let folder: string;
let gateway: TestGateway;
let caller: Caller;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'batchgate-providers-'));
  const config = followGuide();
  gateway = await startGateway({
    configured: config.providerFacts.configured,
    // The file names the provider's own address; here a simulator answers for it.
    compatible: ({ openaiUrl }) => compatibleProviders(config).map((access) => ({ ...access, baseUrl: openaiUrl })),
  });
  ({ caller } = await gateway.newTenant());
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

/** The guide's own file, and the environment it asks for. */
function followGuide(): WorkerConfig {
  const [, file = ''] = /```json\n([\s\S]*?)```/.exec(GUIDE) ?? [];
  const path = join(folder, 'providers.json');
  writeFileSync(path, file);
  return readWorkerConfig({
    DATABASE_URL: 'postgres://localhost/x',
    BATCHGATE_PROVIDERS_FILE: path,
    GROQ_API_KEY: 'gsk-example',
  });
}

test('a provider that is nothing but an entry of the providers file runs a job like any other', async () => {
  const jobId = await caller.submitPrompts(['one', 'two [[sim:error=server_error]]', 'three'], { model: MODEL });
  const { job, rows } = await soundEnd(gateway, caller, jobId);
  expect(job).toMatchObject({ status: 'completed_with_errors', counts: { completed: 2, failed: 1 } });
  expect(rows.map(({ status }) => status)).toEqual(['completed', 'failed', 'completed']);
  expect(Number(job.cost.settled)).toBeGreaterThan(0);
  const { shards } = await gateway.operator.call<{ shards: unknown[] }>('GET', `/v1/operator/jobs/${jobId}`);
  expect(shards).toMatchObject([{ provider: 'groq', provider_model: 'openai/gpt-oss-120b' }]);
});

test('its models and what its batches can do are listed', async () => {
  const { data: models } = await caller.call<{ data: { model: string }[] }>('GET', '/v1/models');
  expect(models.map(({ model }) => model)).toContain(MODEL);
  const { data: rows } = await caller.call<{ data: { provider: string }[] }>('GET', '/v1/capabilities');
  expect(rows.filter(({ provider }) => provider === 'groq')).toHaveLength(1);
});

test('what it does not do is refused before money is held', async () => {
  const jobId = await caller.createJob({ model: MODEL });
  await caller.append(jobId, [
    { custom_id: 'a', request: { messages: [{ role: 'user', content: 'x' }], store: true } },
  ]);
  expect(await caller.call('POST', `/v1/batch-jobs/${jobId}/validate`)).toMatchObject({
    ok: false,
    findings: [{ error: 'batch_capability_not_supported', field: 'items[*].request.store', items: 1 }],
  });
  const other = await caller.createJob({ model: MODEL, endpoint: 'embeddings' });
  await caller.append(other, [{ custom_id: 'a', request: { input: 'x' } }]);
  expect(await caller.call('POST', `/v1/batch-jobs/${other}/validate`)).toMatchObject({
    ok: false,
    findings: [{ error: 'endpoint_not_supported' }],
  });
});
