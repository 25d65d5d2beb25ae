import type pg from 'pg';
import { insertEvent } from '../db/events.ts';
import { type JobRow, lockJobRow } from '../db/job-rows.ts';
import { loadReservedTerms } from '../db/reserved-terms.ts';
import {
  beginWave,
  insertWave,
  listWaves,
  type RetryWaveRow,
  readLeftOfHold,
  skipWave,
  warnOfSkippedWave,
} from '../db/retry-waves.ts';
import { insertShards, listShards, refreshJobState } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { insertRetries, listEndedGroups } from '../db/wave-items.ts';
import { isTerminal } from '../domain/job-state.ts';
import { type Amount, formatAmount } from '../domain/money.ts';
import { waveDelay } from '../domain/retry-policy.ts';
import { decideWave, type WaveDecision } from '../domain/retry-wave.ts';
import { cutItems } from './cut-items.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { JobActivities, WavePlan } from './interfaces.ts';

type Activities = Pick<JobActivities, 'planWave' | 'startWave'>;

/** A wave may be most of a job. */
const SET_WISE = { statementTimeoutMs: 0, setWise: true };
const FIRST_WAVE = 2;

/** Waves of retries: planned once every item has ended, begun once their time has come. */
export function createWaveActivities(dependencies: ActivityDependencies): Activities {
  const { db, log } = dependencies;
  return {
    planWave: async ({ jobId }) => {
      const plan = await inTransaction(db, (client) => planWave(client, dependencies, jobId), SET_WISE);
      if (plan.kind === 'wave') log.info({ jobId, wave: plan.wave, items: plan.items }, 'retry wave planned');
      return plan;
    },

    startWave: async ({ jobId, wave }) => {
      const started = await inTransaction(db, (client) => startWave(client, dependencies, jobId, wave), SET_WISE);
      log.info({ jobId, wave, started }, 'retry wave due');
      return { started };
    },
  };
}

async function planWave(
  client: pg.PoolClient,
  { now, random }: ActivityDependencies,
  jobId: string,
): Promise<WavePlan> {
  const job = await lockJobRow(client, jobId);
  if (job.retryPolicy === null || isTerminal(job.state)) return { kind: 'none' };
  const at = now();
  const waves = await listWaves(client, job.key);
  const last = waves.at(-1);
  if (last !== undefined && isPlanned(last)) {
    const { wave, items, dueAt } = last;
    return { kind: 'wave', wave, items, delayMs: Math.max(0, dueAt.getTime() - at.getTime()) };
  }
  // What one wave could not do for want of money another cannot do either.
  if (last !== undefined && last.skippedAt !== null) return { kind: 'none' };
  const wave = (last?.wave ?? FIRST_WAVE - 1) + 1;
  const delayMs = waveDelay(job.retryPolicy.backoff, wave, random());
  const dueAt = new Date(at.getTime() + delayMs);
  const { decision, left } = await decide(client, job, waves, dueAt);
  if (decision.kind === 'none') return { kind: 'none' };
  const { items, needed } = decision;
  const isSkipped = decision.kind === 'skip';
  await insertWave(client, job.key, { wave, items, needed, left, now: at, dueAt, isSkipped });
  if (isSkipped) {
    await announceSkip(client, job, { wave, items, needed, left });
    return { kind: 'none' };
  }
  await refreshJobState(client, job, at);
  return { kind: 'wave', wave, items, delayMs };
}

async function startWave(
  client: pg.PoolClient,
  dependencies: ActivityDependencies,
  jobId: string,
  wave: number,
): Promise<boolean> {
  const job = await lockJobRow(client, jobId);
  const waves = await listWaves(client, job.key);
  const planned = waves.find((each) => each.wave === wave);
  if (planned === undefined || !isPlanned(planned) || isTerminal(job.state)) return planned?.startedAt != null;
  const at = dependencies.now();
  const { decision, left } = await decide(client, job, waves, at);
  if (decision.kind !== 'wave') {
    await skipWave(client, job.key, { wave, now: at });
    await refreshJobState(client, job, at);
    if (decision.kind === 'skip') await announceSkip(client, job, { wave, left, ...decision });
    return false;
  }
  const lastMade = Math.max(...waves.map(({ lastItemNo }) => lastItemNo ?? 0));
  const firstItemNo = Math.max(job.firstItemNo + job.itemCount - 1, lastMade) + 1;
  const items = await insertRetries(client, job, { kinds: decision.kinds, waves: firstItems(waves), firstItemNo });
  if (items !== decision.items) throw new Error(`${items} of ${decision.items} items of wave ${wave} were made`);
  const range = { firstItemNo, lastItemNo: firstItemNo + items - 1 };
  const shardsBefore = Math.max(...(await listShards(client, job.key)).map(({ shard }) => shard));
  const shards = await cutItems(client, dependencies, job, { ...range, shardsBefore });
  await insertShards(client, job.key, shards, shardsBefore);
  await beginWave(client, job.key, { wave, items, needed: decision.needed, left, now: at, ...range });
  await refreshJobState(client, job, at);
  await announce(client, job, 'batch_job.retry_wave_started', { wave, items });
  return true;
}

/** Of those that began. */
function firstItems(waves: readonly RetryWaveRow[]): number[] {
  return waves.flatMap(({ firstItemNo }) => firstItemNo ?? []);
}

function isPlanned({ startedAt, skippedAt }: RetryWaveRow): boolean {
  return startedAt === null && skippedAt === null;
}

async function decide(
  client: pg.PoolClient,
  job: JobRow,
  waves: readonly RetryWaveRow[],
  startAt: Date,
): Promise<{ decision: WaveDecision; left: Amount }> {
  const left = await readLeftOfHold(client, job);
  const decision = decideWave({
    policy: job.retryPolicy,
    ended: await listEndedGroups(client, job, firstItems(waves)),
    terms: await loadReservedTerms(client, job),
    left,
    isCancelRequested: job.cancelRequestedAt !== null,
    deadline: job.deadline,
    startAt,
  });
  return { decision, left };
}

async function announceSkip(
  client: pg.PoolClient,
  job: JobRow,
  { wave, items, needed, left }: { wave: number; items: number; needed: Amount; left: Amount },
): Promise<void> {
  const message = `${items} items that failed were not tried again: what is left of the job's hold does not cover them.`;
  const amounts = { needed: formatAmount(needed), left: formatAmount(left) };
  await warnOfSkippedWave(client, job.key, { wave, message, ...amounts });
  await announce(client, job, 'batch_job.retry_wave_skipped', { wave, items });
}

async function announce(
  client: pg.PoolClient,
  job: JobRow,
  type: 'batch_job.retry_wave_started' | 'batch_job.retry_wave_skipped',
  what: { wave: number; items: number },
): Promise<void> {
  const { wave, items } = what;
  await insertEvent(client, {
    tenantId: job.tenantId,
    jobId: job.key.uuid,
    type,
    data: { job_id: job.jobId, wave, items },
  });
}
