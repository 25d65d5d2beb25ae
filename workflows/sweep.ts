import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities, SweepResult } from '../activities/interfaces.ts';
import { MAINTENANCE_POLICY } from './policies.ts';
import { runEach } from './run-each.ts';

const { sweepShards } = summarized('shards without a workflow, or past their poll');
const { sweepDeadlines } = summarized('jobs that slept through their deadline');
const { sweepCreates } = summarized('creates that nobody answered');
const { sweepMoney } = summarized('money held for what is over');
const { sweepRoom } = summarized('room in queues held by what is over');
const { sweepSurplus } = summarized('provider batches that are one too many');

/** By Schedule, every five minutes: what stands still although it should not, and what is held by nobody. */
export async function sweep(): Promise<Record<string, SweepResult>> {
  return runEach({
    shards: sweepShards,
    deadlines: sweepDeadlines,
    creates: sweepCreates,
    money: sweepMoney,
    room: sweepRoom,
  });
}

/** By Schedule, every half hour: it reads the providers' lists. */
export async function sweepProviders(): Promise<Record<string, SweepResult>> {
  return runEach({ surplus: sweepSurplus });
}

function summarized(summary: string) {
  return proxyActivities<MaintenanceActivities>({ ...MAINTENANCE_POLICY, summary });
}
