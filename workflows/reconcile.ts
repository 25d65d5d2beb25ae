import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/interfaces.ts';
import { MAINTENANCE_POLICY } from './policies.ts';

const { recoverJobs } = summarized('start or wake the workflow of every open job that lacks one');
const { tidyTables } = summarized('partitions ahead, overdue deletions');
const { verifyLedgers } = summarized('recompute the sums of open and recently ended jobs');

/** By Schedule, every minute: no open job stays without its workflow, no cancel unheard. */
export async function reconcile(): Promise<{ started: number; signalled: number; failed: number }> {
  return recoverJobs();
}

/** By Schedule, every hour: partitions ahead, what is due is deleted, and the ledger is recomputed. */
export async function retention(): Promise<{ removed: number; differences: number }> {
  const { removed } = await tidyTables();
  const { differences } = await verifyLedgers();
  return { removed, differences };
}

function summarized(summary: string) {
  return proxyActivities<MaintenanceActivities>({ ...MAINTENANCE_POLICY, summary });
}
