import type pg from 'pg';
import { loadAdmissionFacts } from '../db/admission-facts.ts';
import { recordAudit } from '../db/audit-log.ts';
import { keepCustomerPricing } from '../db/customer-pricing.ts';
import { listFindingDetails } from '../db/finding-details.ts';
import { NOT_BEFORE, releaseShards } from '../db/held-shards.ts';
import { findJobRow, findLockedJobRow, getJobRow, type JobRow, lockJobRow } from '../db/job-rows.ts';
import { deleteEndedRequests } from '../db/request-deletion.ts';
import { listShards } from '../db/shards.ts';
import { findSubmission, recordAcceptance, recordRefusal } from '../db/submissions.ts';
import { inTransaction } from '../db/transaction.ts';
import { judgeAdmission, type Verdict } from '../domain/admission.ts';
import { heldForMs } from '../domain/execution-times.ts';
import { isTerminal } from '../domain/job-state.ts';
import { isShardOpen } from '../domain/shard-state.ts';
import type { Calibration } from '../domain/token-calibration.ts';
import { calibrate } from '../ledger/calibrate.ts';
import { recordJobCancel, recordJobCancelled } from '../ledger/cancels.ts';
import { closeJob } from '../ledger/close-job.ts';
import { lockBudgets, reserve } from '../ledger/reserve.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { beat } from './heartbeats.ts';
import type { AdmissionVerdict, JobActivities } from './interfaces.ts';
import { createPlanShards } from './plan-shards.ts';
import { createWaveActivities } from './retry-waves.ts';

/** Shards shown to the workflow at once. */
const MAX_OPEN_SHARDS_SHOWN = 50;

/** The activities of a job as a whole. */
export function createJobActivities(dependencies: ActivityDependencies): JobActivities {
  const { db, now, settings, log } = dependencies;
  return {
    admitJob: async (input) => {
      const { verdict } = await admitJob(dependencies, input);
      if (verdict === 'cancelled')
        await deleteEndedRequests(db.pool, (await getJobRow(db.pool, input.jobId)).key, now());
      log.info({ jobId: input.jobId, submissionNo: input.submissionNo, verdict }, 'submission judged');
      return { verdict };
    },

    planShards: createPlanShards(dependencies),
    ...createWaveActivities(dependencies),

    readShards: async ({ jobId }) => {
      const job = await getJobRow(db.pool, jobId);
      const shards = await listShards(db.pool, job.key);
      const open = shards.filter((shard) => isShardOpen(shard.state));
      const heldMs = heldForMs(job, now());
      if (heldMs === 0 && open.some(({ waitingReason }) => waitingReason === NOT_BEFORE))
        await inTransaction(db, async (client) => releaseShards(client, await lockJobRow(client, jobId)));
      const working = open.filter((shard) => shard.state !== 'planned');
      const planned = open.filter((shard) => shard.state === 'planned');
      // Those at work too: starting one that runs is harmless, and one whose workflow was ended goes on.
      const toStart = [...working, ...planned.slice(0, Math.max(0, settings.shardWindow - working.length))];
      return {
        total: shards.length,
        settled: shards.length - open.length,
        open: [...working, ...planned].slice(0, MAX_OPEN_SHARDS_SHOWN).map(({ shard, state }) => ({ shard, state })),
        toStart: (heldMs > 0 ? [] : toStart).map(({ shard, provider, providerModel, itemCount }) => ({
          shard,
          provider,
          providerModel,
          items: itemCount,
        })),
        cancelRequested: job.cancelRequestedAt !== null,
        status: job.state,
        ...(heldMs > 0 && { heldForMs: heldMs }),
        ...((job.retryPolicy?.maxAttempts ?? 1) > 1 && { mayRetry: true }),
      };
    },

    recordCancel: async ({ jobId, by, reason }) => {
      await inTransaction(db, async (client) => {
        const job = await lockJobRow(client, jobId);
        // A submission that was refused meanwhile has left a draft, which nobody asked to cancel.
        if (job.state !== 'draft' && !isTerminal(job.state))
          await recordJobCancel(client, job, { by, reason, now: now() });
      });
    },

    reconcileJob: async ({ jobId }) => {
      const result = await closeJob(db, jobId, now());
      const { key } = await getJobRow(db.pool, jobId);
      await deleteEndedRequests(db.pool, key, now(), beat);
      log.info({ jobId, ...result }, 'job reconciled');
      if (result.itemsWithoutOutcome > 0)
        throw new Error(`${result.itemsWithoutOutcome} items of ${jobId} have no outcome`);
      // A run that is not told looks by itself, some minutes later.
      if (key.kind === 'document') await dependencies.runs.wake(jobId).catch(() => undefined);
      return result;
    },
  };
}

/** Before the transaction of the verdict, which holds locks; null where there will be no verdict. */
async function calibrateSubmission(
  { db, catalogue, now }: ActivityDependencies,
  { jobId, submissionNo }: { jobId: string; submissionNo: number },
): Promise<Calibration | null> {
  const job = await findJobRow(db.pool, jobId);
  if (job?.state !== 'validating' || job.submissionNo !== submissionNo) return null;
  return calibrate(db.pool, job, await loadAdmissionFacts(db.pool, job, now(), catalogue));
}

/** Claim, verdict, and either the reservation or the return to draft: one transaction, so half of it can never be seen. */
async function admitJob(
  dependencies: ActivityDependencies,
  input: { jobId: string; submissionNo: number },
): Promise<AdmissionVerdict> {
  const { db, catalogue, now } = dependencies;
  const calibration = await calibrateSubmission(dependencies, input);
  return inTransaction(db, async (client) => {
    const job = await findLockedJobRow(client, input.jobId);
    // A draft again by an earlier run's refusal, and deleted since.
    if (job === null) return { verdict: 'stale' };
    const stored = await findSubmission(client, job.key, input.submissionNo);
    if (stored !== null) return { verdict: stored.accepted ? 'accepted' : 'refused' };
    if (job.submissionNo !== input.submissionNo) return { verdict: 'stale' };
    if (job.state === 'cancelled') return { verdict: 'cancelled' };
    if (job.state !== 'validating' && job.state !== 'cancel_requested') return { verdict: 'stale' };
    const at = now();
    if (job.cancelRequestedAt !== null) {
      await recordJobCancelled(client, job, at);
      return { verdict: 'cancelled' };
    }
    const facts = await loadAdmissionFacts(client, job, at, catalogue);
    const budgets = await lockBudgets(client, job, at);
    const verdict = judgeAdmission({ ...facts, budgets, calibration });
    if (verdict.quote === null || verdict.findings.length > 0) {
      await refuse(client, job, verdict);
      return { verdict: 'refused' };
    }
    await reserve(client, job, verdict.quote, budgets);
    await recordAcceptance(client, job, verdict.quote, verdict, at);
    await keepCustomerPricing(client, job, { quote: verdict.quote, targets: verdict.targets }, at);
    // Here rather than at the claim: one that is refused was never done.
    const entry = { act: 'job.submitted', actor: job.submittedBy ?? job.apiKeyId, tenantId: job.tenantId } as const;
    await recordAudit(client, { ...entry, subject: job.jobId, details: { items: job.itemCount } });
    return { verdict: 'accepted' };
  });
}

/** By the first finding: that is the one to mend first. */
async function refuse(client: pg.PoolClient, job: JobRow, verdict: Verdict): Promise<void> {
  const [finding] = verdict.findings;
  if (finding === undefined) throw new Error('a verdict without findings has a quote');
  const details = await listFindingDetails(client, job, finding);
  const { error, message, field, items } = finding;
  const refusal = { error, message, field, details, details_count: Math.max(items, details.length) };
  await recordRefusal(client, job, refusal, verdict);
}
