import { expect, test } from 'vitest';
import { asyncTaskStart } from './start-options.ts';

const TASK = {
  taskId: 'task_one',
  tenantId: 'acme',
  customerId: 'cust_1',
  provider: 'openai' as const,
  providerModel: 'gpt-4o-mini',
};

test('neither priority, submission time nor account orders the execution of tasks: fairness is by tenant, and nothing else is told', () => {
  const { priority } = asyncTaskStart(TASK);
  expect(priority).toEqual({ fairnessKey: 'acme' });
  expect(asyncTaskStart({ ...TASK, customerId: null, taskId: 'task_two' }).priority).toEqual(priority);
  // The longest id a tenant may have, which is Temporal's limit too: two that differ in their end take turns of their own.
  for (const tenantId of ['one', 'two'].map((end) => `${'a'.repeat(61)}${end}`))
    expect(asyncTaskStart({ ...TASK, tenantId }).priority).toEqual({ fairnessKey: tenantId });
});
