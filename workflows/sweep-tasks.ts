import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities, SweepResult } from '../activities/interfaces.ts';
import { MAINTENANCE_POLICY } from './policies.ts';
import { runEach } from './run-each.ts';

const { sweepTasks: sweepOverdue } = summarized('tasks that nobody works on');
const { sweepTaskSlots } = summarized('counts of open tasks that are wrong');

/** By Schedule, every minute: no task stays without its workflow, and none is counted that is over. */
export async function sweepTasks(): Promise<Record<string, SweepResult>> {
  return runEach({ tasks: sweepOverdue, slots: sweepTaskSlots });
}

function summarized(summary: string) {
  return proxyActivities<MaintenanceActivities>({ ...MAINTENANCE_POLICY, summary });
}
