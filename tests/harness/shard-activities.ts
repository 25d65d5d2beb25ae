import { createDatabaseActivities, createProviderActivities } from '../../activities/create-activities.ts';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import type { ShardStep } from '../../activities/interfaces.ts';
import { type AttemptRow, findLastAttempt } from '../../db/attempts.ts';
import type { Database } from '../../db/client.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { getShard, listShards, type ShardRow } from '../../db/shards.ts';
import type { CloseReason } from '../../domain/close-reason.ts';
import { IDLE_WORKFLOWS, runActivity, testDependencies } from './activities.ts';
import { catalogueOf, type FakeProvider } from './fake-provider.ts';
import { insertJob, insertTenant, type TestJobOptions } from './jobs.ts';

/** One shard and its activities, for tests that run them one by one. */
export interface TestShard {
  readonly ref: { readonly jobId: string; readonly shard: number };
  /** Runs the next step's activity for an attempt to be sent, as the workflow would; throws for any other step. */
  submit(): ReturnType<ReturnType<typeof createProviderActivities>['submitAttempt']>;
  nextStep(): Promise<ShardStep>;
  poll(): ReturnType<ReturnType<typeof createProviderActivities>['pollAttempt']>;
  ingest(reading?: number): ReturnType<ReturnType<typeof createProviderActivities>['ingestAttempt']>;
  resolve(look?: number): ReturnType<ReturnType<typeof createProviderActivities>['resolveAttempt']>;
  cancel(): ReturnType<ReturnType<typeof createProviderActivities>['cancelAttempt']>;
  abandon(): ReturnType<ReturnType<typeof createProviderActivities>['abandonBatch']>;
  reread(): ReturnType<ReturnType<typeof createProviderActivities>['rereadResults']>;
  close(reason: CloseReason): Promise<{ closed: number }>;
  row(): Promise<ShardRow>;
  attempt(): Promise<AttemptRow>;
  rows(): Promise<ShardRow[]>;
}

export interface TestShards {
  /** What was woken, oldest first, as `job/shard`. */
  readonly woken: string[];
  /** A new job of one shard, admitted and planned. */
  newShard(options?: TestJobOptions): Promise<TestShard>;
  /** Another shard of a job, such as a half. */
  shardOf(jobId: string, shard: number): TestShard;
}

/** Activities over a provider in memory, and a model that is never without labels unless said so. */
export function createTestShards(
  db: Database,
  provider: FakeProvider,
  overrides: Partial<ActivityDependencies> & { sizesDiffer?: boolean } = {},
): TestShards {
  const { sizesDiffer = false, ...rest } = overrides;
  const woken: string[] = [];
  const dependencies = testDependencies(db, {
    provider,
    catalogue: catalogueOf({ sizesDiffer }),
    workflows: {
      ...IDLE_WORKFLOWS,
      wakeShard: async (jobId, shard) => {
        woken.push(`${jobId}/${shard}`);
      },
    },
    ...rest,
  });
  const database = createDatabaseActivities(dependencies);
  const activities = createProviderActivities(dependencies);

  function shardOf(jobId: string, shard: number): TestShard {
    const ref = { jobId, shard };
    const row = async () => getShard(db.pool, (await getJobRow(db.pool, jobId)).key, shard);
    const attempt = async () => {
      const last = await findLastAttempt(db.pool, (await getJobRow(db.pool, jobId)).key, shard);
      if (last === null) throw new Error('no attempt was begun');
      return last;
    };
    const last = async () => ({ ...ref, attempt: (await attempt()).attempt });
    const nextStep = () => runActivity(database.nextStep, ref);
    return {
      ref,
      nextStep,
      submit: async () => {
        const step = await nextStep();
        if (step.kind !== 'submit') throw new Error(`the next step is ${step.kind}`);
        return runActivity(activities.submitAttempt, { ...ref, attempt: step.attempt });
      },
      poll: async () => runActivity(activities.pollAttempt, { ...(await last()), pollsWithoutChange: 0 }),
      ingest: async (reading = 1) =>
        runActivity(activities.ingestAttempt, { ...(await last()), reading, mayRetry: true }),
      cancel: async () => runActivity(activities.cancelAttempt, await last()),
      abandon: () => runActivity(activities.abandonBatch, ref),
      reread: () => runActivity(activities.rereadResults, ref),
      resolve: async (look = 1) => runActivity(activities.resolveAttempt, { ...(await last()), look }),
      close: (reason) => runActivity(database.closeShard, { ...ref, reason }),
      row,
      attempt,
      rows: async () => listShards(db.pool, (await getJobRow(db.pool, jobId)).key),
    };
  }

  return {
    woken,
    shardOf,
    newShard: async (options = {}) => {
      const { jobId } = await insertJob(db, await insertTenant(db), options);
      await runActivity(database.admitJob, { jobId, submissionNo: 1 });
      await runActivity(database.planShards, { jobId });
      return shardOf(jobId, 1);
    },
  };
}
