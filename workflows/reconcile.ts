import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/interfaces.ts';
import { MAINTENANCE_POLICY } from './policies.ts';

const { recoverJobs, tidyTables, verifyLedgers } = proxyActivities<MaintenanceActivities>(MAINTENANCE_POLICY);

/** By Schedule, every minute: no open job stays without its workflow, no cancel unheard. */
export async function reconcile(): Promise<{ started: number; signalled: number }> {
  return recoverJobs();
}

/** By Schedule, every hour: partitions ahead, what is due is deleted, and the ledger is recomputed. */
export async function retention(): Promise<{ removed: number; differences: number }> {
  const { removed } = await tidyTables();
  const { differences } = await verifyLedgers();
  return { removed, differences };
}
