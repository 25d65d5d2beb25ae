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
  expect(asyncTaskStart({ ...TASK, tenantId: 'other' }).priority).toEqual({ fairnessKey: 'other' });
});
