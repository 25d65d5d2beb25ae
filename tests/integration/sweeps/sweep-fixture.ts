import type { ActivityDependencies, JobWorkflowControl } from '../../../activities/dependencies.ts';
import type { MaintenanceActivities } from '../../../activities/interfaces.ts';
import { createMaintenanceActivities } from '../../../activities/maintenance.ts';
import type { Database } from '../../../db/client.ts';
import type { OpenJob } from '../../../db/open-jobs.ts';
import { type Finding, listFindings } from '../../../db/sweep-findings.ts';
import { IDLE_WORKFLOWS, runActivity, testDependencies } from '../../harness/activities.ts';

/** Workflows that are there or not, as a test says, and what was asked of them. */
export class ScriptedWorkflows implements JobWorkflowControl {
  readonly calls: string[] = [];
  readonly running = new Set<string>();
  /** Starting or asking after any of these throws. */
  readonly broken = new Set<string>();

  async start({ jobId }: OpenJob): Promise<boolean> {
    this.#note('start', jobId);
    if (this.running.has(jobId)) return false;
    this.running.add(jobId);
    return true;
  }

  async signalCancel(jobId: string): Promise<void> {
    this.#note('cancel', jobId);
  }

  async wakeShard(jobId: string, shard: number): Promise<void> {
    this.#note('wake', `${jobId}/${shard}`);
  }

  async wakeJob(jobId: string): Promise<boolean> {
    this.#note('wakeJob', jobId);
    return this.running.has(jobId);
  }

  async isShardRunning(jobId: string, shard: number): Promise<boolean> {
    if (this.broken.has(jobId)) throw new Error('no answer');
    return this.running.has(`${jobId}/${shard}`);
  }

  #note(what: string, whom: string): void {
    if (this.broken.has(whom)) throw new Error('no answer');
    this.calls.push(`${what} ${whom}`);
  }
}

/** Runs one sweep over a database, as a worker would. */
export function sweeper(db: Database, overrides: Partial<ActivityDependencies> = {}) {
  const activities = createMaintenanceActivities(testDependencies(db, { workflows: IDLE_WORKFLOWS, ...overrides }));
  return <Name extends keyof MaintenanceActivities>(name: Name): ReturnType<MaintenanceActivities[Name]> => {
    const run: () => Promise<unknown> = activities[name];
    return runActivity(run, undefined) as ReturnType<MaintenanceActivities[Name]>;
  };
}

/** All findings, the oldest first, by kind and subject. */
export async function findings(db: Database): Promise<Finding[]> {
  const all = await listFindings(db.pool, {}, { before: null, limit: 1_000 });
  return all.toReversed();
}
