import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities, SweepResult } from '../activities/interfaces.ts';
import { MAINTENANCE_POLICY } from './policies.ts';
import { runEach } from './run-each.ts';

const { sweepRuns } = summarized('runs over documents that have no workflow');
const { sweepDocuments: sweepStill } = summarized('documents that nobody is at');

/** By Schedule, every minute: no run stays without its workflow, and no document without progress. */
export async function sweepDocuments(): Promise<Record<string, SweepResult>> {
  return runEach({ runs: sweepRuns, documents: sweepStill });
}

function summarized(summary: string) {
  return proxyActivities<MaintenanceActivities>({ ...MAINTENANCE_POLICY, summary });
}
