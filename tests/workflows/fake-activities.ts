import { Context } from '@temporalio/activity';
import type {
  JobActivities,
  MaintenanceActivities,
  ProviderActivities,
  ShardActivities,
} from '../../activities/interfaces.ts';
import { FakeJob, type Gate, type JobScript } from './fake-job.ts';

const BEAT_EVERY_MS = 20;
const SWEPT = { looked: 4, repaired: 1, raised: 1, failed: 0 };

/** The jobs that the fake activities know. */
export class FakeJobs {
  readonly #jobs = new Map<string, FakeJob>();

  add(jobId: string, script: JobScript = {}): FakeJob {
    const job = new FakeJob(jobId, script);
    this.#jobs.set(jobId, job);
    return job;
  }

  get(jobId: string): FakeJob {
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new Error(`no such job: ${jobId}`);
    return job;
  }

  releaseAll(): void {
    for (const job of this.#jobs.values()) job.releaseAll();
  }
}

/**
 * Every activity, over rows in memory. Each call is noted, waits for its gate where a test holds one, and then does in
 * one step what the real activity does in its transactions.
 */
export function createFakeActivities(jobs: FakeJobs): {
  database: JobActivities & ShardActivities;
  provider: ProviderActivities;
  maintenance: MaintenanceActivities;
} {
  function does<Input extends { jobId: string }, Result>(name: string, step: (job: FakeJob, input: Input) => Result) {
    return async (input: Input): Promise<Result> => {
      const job = jobs.get(input.jobId);
      job.calls.push({ name, input: { ...input } });
      const gate = job.gate(name);
      if (gate?.after === false) await passGate(gate);
      const result = step(job, input);
      if (gate?.after === true) await passGate(gate);
      return result;
    };
  }
  return {
    database: {
      admitJob: does('admitJob', (job, { submissionNo }) => job.admit(submissionNo)),
      planShards: does('planShards', (job) => ({ shards: job.shards.length })),
      readShards: does('readShards', (job) => job.view()),
      recordCancel: does('recordCancel', (job, { by, reason }) => {
        job.cancel ??= { by, reason };
      }),
      planWave: does('planWave', (job) => job.waves.plan(job.cancel !== null)),
      startWave: does('startWave', (job, { wave }) => job.waves.start(wave, job.cancel !== null)),
      reconcileJob: does('reconcileJob', (job) => job.reconcile()),
      nextStep: does('nextStep', (job, { shard }) => job.shard(shard).nextStep()),
      closeShard: does('closeShard', (job, { shard, reason }) => job.shard(shard).close(reason)),
    },
    provider: {
      submitAttempt: does('submitAttempt', (job, ref) => job.shard(ref.shard).submit(ref)),
      resolveAttempt: does('resolveAttempt', (job, { shard }) => job.shard(shard).resolve()),
      pollAttempt: does('pollAttempt', (job, { shard }) => job.shard(shard).poll()),
      cancelAttempt: does('cancelAttempt', (job, { shard }) => job.shard(shard).cancel()),
      ingestAttempt: does('ingestAttempt', (job, { shard }) => job.shard(shard).ingest()),
      abandonBatch: does('abandonBatch', (job, { shard }) => job.shard(shard).abandon()),
      rereadResults: does('rereadResults', (job, { shard }) => job.shard(shard).reread()),
    },
    maintenance: {
      recoverJobs: async () => ({ started: 2, signalled: 1, failed: 0 }),
      sweepShards: async () => SWEPT,
      sweepDeadlines: async () => SWEPT,
      sweepCreates: async () => SWEPT,
      sweepMoney: async () => SWEPT,
      sweepRoom: async () => SWEPT,
      sweepSurplus: async () => SWEPT,
      sweepWebhooks: async () => SWEPT,
      sweepTasks: async () => SWEPT,
      sweepTaskSlots: async () => SWEPT,
      sweepRuns: async () => SWEPT,
      sweepDocuments: async () => SWEPT,
      verifyLedgers: async () => ({ checked: 5, differences: 0 }),
      tidyTables: async () => ({ removed: 3 }),
    },
  };
}

/** Beats while it waits, so that a cancellation of the activity is heard, and throws it. */
async function passGate(gate: Gate): Promise<void> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), BEAT_EVERY_MS);
  try {
    await (gate.heedsCancel ? Promise.race([gate.opened, context.cancelled]) : gate.opened);
  } finally {
    clearInterval(timer);
  }
}
