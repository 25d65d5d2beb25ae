import { randomBytes } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createKeyRing, KEY_BYTES } from '../../encryption/key-ring.ts';
import { createPayloadCodec, toText } from '../../encryption/payload-codec.ts';
import { TEST_CIPHER } from '../harness/activities.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { prompts } from '../harness/provider-side.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ sealsPayloads: true });
});
afterAll(() => gateway.stop());

test('with the codec on no payload shows a job’s id; operators’ tools can open them, and replays follow them', async () => {
  const { caller } = await gateway.newTenant();
  const jobId = await caller.submitPrompts(prompts(2));
  expect((await caller.ended(jobId)).status).toBe('completed');

  const handle = gateway.client.workflow.getHandle(`batch-job/${jobId}`);
  const history = await handle.fetchHistory();
  const input = history.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const texts = input.map((payload) => toText(payload as Parameters<typeof toText>[0]));
  expect(JSON.stringify(texts)).not.toContain(Buffer.from(jobId).toString('base64').slice(4, -4));
  for (const bytes of input.map(({ data }) => Buffer.from(data ?? []))) expect(bytes.includes(jobId)).toBe(false);

  const decoded = await gateway.operator.call<{ payloads: typeof texts }>('POST', '/codec/decode', { payloads: texts });
  expect(decoded.payloads.map(({ data }) => Buffer.from(data, 'base64').toString()).join()).toContain(jobId);
  expect((await caller.fetch('/codec/decode', { method: 'POST', json: { payloads: texts } })).status).toBe(403);

  const replay = async (cipher: typeof TEST_CIPHER): Promise<string[]> => {
    const dataConverter = { payloadCodecs: [createPayloadCodec(cipher, { encodes: false })] };
    const options = { workflowBundle: { codePath: inject('workflowBundle') }, dataConverter };
    const errors: string[] = [];
    const runs = [{ workflowId: `batch-job/${jobId}`, history }];
    for await (const { error } of Worker.runReplayHistories(options, runs)) if (error) errors.push(error.message);
    return errors;
  };
  expect(await replay(TEST_CIPHER)).toEqual([]);
  const stranger = createKeyRing([{ id: 'another', key: randomBytes(KEY_BYTES) }]);
  expect((await replay(stranger)).join()).toContain('sealed by the key test, which is not configured');
});
