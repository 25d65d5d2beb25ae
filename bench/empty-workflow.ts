import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '1 minute' });

/** The least that a durable task can be: one activity, which does nothing. */
export async function emptyTask(): Promise<void> {
  await nothing();
}
