import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { startReceiver, type WebhookReceiver } from '../harness/webhook-receiver.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startGateway(), startReceiver()]);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

test('the end of a job reaches its receiver, which can verify the very bytes', async () => {
  const { caller } = await gateway.newTenant();
  const endpoint = await caller.call<{ endpoint_id: string; secret: string }>('POST', '/v1/webhooks', {
    url: receiver.url,
    event_types: ['batch_job.completed'],
  });
  const jobId = await caller.submitPrompts(['grüße', 'こんにちは']);
  await caller.ended(jobId);
  await eventually(() => receiver.calls.length > 0, { timeoutMs: 30_000 });
  const [call = expect.unreachable()] = receiver.calls;
  const event = new Webhook(endpoint.secret).verify(call.bytes, call.headers);
  const counts = { total: 2, completed: 2, failed: 0, expired: 0, cancelled: 0, retries: 0 };
  expect(event).toEqual({
    type: 'batch_job.completed',
    timestamp: expect.any(String),
    data: { job_id: jobId, status: 'completed', counts },
  });
  const path = `/v1/webhooks/deliveries?job_id=${jobId}`;
  const delivered = await eventually(async () => {
    const { data } = await caller.call<{ data: { delivery_id: string; status: string }[] }>('GET', path);
    return data[0]?.status === 'delivered' ? data[0] : null;
  });
  await caller.call('POST', `/v1/webhooks/deliveries/${delivered.delivery_id}/replay`, {});
  await eventually(() => receiver.calls.length === 2, { timeoutMs: 30_000 });
  expect(receiver.calls[1]?.bytes).toEqual(call.bytes);
  expect(receiver.calls[1]?.headers['webhook-id']).toBe(call.headers['webhook-id']);
});
