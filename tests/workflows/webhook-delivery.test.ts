import { expect, test } from 'vitest';
import { createDeliveryControl } from '../../worker/delivery-control.ts';
import { webhookDeliveryWorkflowId } from '../../workflows/ids.ts';
import { deliverNowSignal, type WebhookDeliveryInput } from '../../workflows/messages.ts';
import { webhookDeliveryStart } from '../../workflows/start-options.ts';
import { eventually } from '../harness/eventually.ts';
import { ABANDONED, again, DELIVERED } from './fake-webhooks.ts';
import { readEvents } from './read-history.ts';
import { useFakeEngine } from './use-fake-engine.ts';

const engine = useFakeEngine();
const HOUR_MS = 3_600_000;

function startOf(deliveryId: string, input: Partial<WebhookDeliveryInput> = {}) {
  const start = webhookDeliveryStart({ deliveryId, tenantId: 'acme', eventType: 'batch_job.completed' });
  return { ...start, args: [{ ...start.args[0], ...input }] };
}

test.concurrent('a delivery is tried until its row says that it is over', async () => {
  const { client, webhooks } = engine();
  webhooks.add('whd_retried', [again(20), again(20), DELIVERED]);
  expect(await client.workflow.execute('webhookDelivery', startOf('whd_retried'))).toEqual({ state: 'delivered' });
  expect(webhooks.attemptsOf('whd_retried')).toBe(3);
  webhooks.add('whd_given_up', [again(20), ABANDONED]);
  expect(await client.workflow.execute('webhookDelivery', startOf('whd_given_up'))).toEqual({ state: 'abandoned' });
});

test.concurrent('it waits for as long as the attempt says, and a signal ends the wait', async () => {
  const { client, webhooks } = engine();
  webhooks.add('whd_waiting', [again(24 * HOUR_MS)]);
  const handle = await client.workflow.start('webhookDelivery', startOf('whd_waiting'));
  await eventually(async () =>
    (await readEvents(client, handle.workflowId)).some((event) => event.timerStartedEventAttributes),
  );
  const timer = (await readEvents(client, handle.workflowId)).find((event) => event.timerStartedEventAttributes);
  expect(Number(timer?.timerStartedEventAttributes?.startToFireTimeout?.seconds)).toBe(86_400);
  expect(webhooks.attemptsOf('whd_waiting')).toBe(1);
  await handle.signal(deliverNowSignal);
  expect(await handle.result()).toEqual({ state: 'delivered' });
});

test.concurrent('starting one that runs wakes it, and one that has ended begins anew: a replay', async () => {
  const { client, webhooks } = engine();
  const control = createDeliveryControl(client);
  const delivery = { deliveryId: 'whd_replayed', tenantId: 'acme', eventType: 'batch_job.failed' };
  webhooks.add('whd_replayed', [again(HOUR_MS), ABANDONED, DELIVERED]);
  expect(await control.start(delivery)).toBe(true);
  await eventually(() => webhooks.attemptsOf('whd_replayed') === 1);
  expect(await control.start(delivery)).toBe(false);
  const handle = client.workflow.getHandle(webhookDeliveryWorkflowId('whd_replayed'));
  expect(await handle.result()).toEqual({ state: 'abandoned' });
  expect(await control.start(delivery)).toBe(true);
  expect(await client.workflow.getHandle(handle.workflowId).result()).toEqual({ state: 'delivered' });
});

test.concurrent('weeks of waits are continued as new, with small histories', async () => {
  const { client, webhooks } = engine();
  webhooks.add('whd_long', Array(12).fill(again(5)));
  const start = startOf('whd_long', { maxHistoryEvents: 30 });
  expect(await client.workflow.execute('webhookDelivery', start)).toEqual({ state: 'delivered' });
  expect(webhooks.attemptsOf('whd_long')).toBe(13);
  const events = await readEvents(client, start.workflowId);
  expect(events.length).toBeLessThan(60);
  expect(events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).not.toBe('');
});

test('a replay that comes while the last attempt ends goes on in the same run', async () => {
  const { client, webhooks } = engine();
  const gate = Promise.withResolvers<void>();
  webhooks.add('whd_late', [ABANDONED, DELIVERED]);
  webhooks.held = gate.promise;
  const handle = await client.workflow.start('webhookDelivery', startOf('whd_late'));
  await eventually(() => webhooks.attemptsOf('whd_late') === 1);
  await handle.signal(deliverNowSignal);
  gate.resolve();
  expect(await handle.result()).toEqual({ state: 'delivered' });
  expect(webhooks.attemptsOf('whd_late')).toBe(2);
});
