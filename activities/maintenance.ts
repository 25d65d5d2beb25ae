import { insertEvent } from '../db/events.ts';
import { purgeIdempotencyKeys } from '../db/idempotency-keys.ts';
import { toUuid } from '../db/ids.ts';
import { reapOldGenerations } from '../db/old-manifests.ts';
import { listOpenJobs } from '../db/open-jobs.ts';
import { ensurePartitions } from '../db/partitions.ts';
import { purgeProviderWebhookEvents } from '../db/provider-webhook-events.ts';
import { inTransaction } from '../db/transaction.ts';
import { verifyLedger } from '../ledger/verify.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { translateFailures } from './failures.ts';
import { beat } from './heartbeats.ts';
import type { MaintenanceActivities } from './interfaces.ts';

/** A submission younger than this is still being handed over by the api. */
const SETTLING_IN_MS = 15_000;
const MAX_JOBS_A_SWEEP = 2_000;
/** Ended jobs are verified for this long after their end; older ones by `ledger verify`. */
const VERIFY_BACK_MS = 24 * 3_600_000;

/** Sweeps: each finds what something else should have done, and does it. Harmless to repeat and to run twice at once. */
export function createMaintenanceActivities({ db, workflows, now, log }: ActivityDependencies): MaintenanceActivities {
  return translateFailures<MaintenanceActivities>({
    recoverJobs: async () => {
      const jobs = await listOpenJobs(db.pool, new Date(now().getTime() - SETTLING_IN_MS), MAX_JOBS_A_SWEEP);
      let started = 0;
      let signalled = 0;
      for (const job of jobs) {
        beat();
        if (await workflows.start(job)) {
          started += 1;
          log.warn({ jobId: job.jobId }, 'an open job had no workflow; started one');
        } else if (job.cancelRequested) {
          await workflows.signalCancel(job.jobId);
          signalled += 1;
        }
      }
      return { started, signalled };
    },

    verifyLedgers: async () => {
      const report = await verifyLedger(db, { since: new Date(now().getTime() - VERIFY_BACK_MS), onProgress: beat });
      for (const difference of report.differences) {
        log.warn({ ...difference }, 'ledger difference');
        await inTransaction(db, (client) => announceDifference(client, difference.subject));
      }
      return { checked: report.jobs, differences: report.differences.length };
    },

    tidyTables: async () => {
      await ensurePartitions(db.pool, now().getTime());
      const keys = await purgeIdempotencyKeys(db.pool, now());
      const events = await purgeProviderWebhookEvents(db.pool, now());
      const items = await reapOldGenerations(db, now());
      return { removed: keys + events + items };
    },
  });
}

/** To the tenant of the job; a difference of a budget is told to operators by the log and `ledger verify`. */
async function announceDifference(client: Parameters<typeof insertEvent>[0], subject: string): Promise<void> {
  const uuid = toUuid('job', subject.split(' ')[0] ?? '');
  if (uuid === null) return;
  const { rows } = await client.query<{ tenant_id: string }>(
    `SELECT tenant_id FROM batch_jobs j WHERE job_id = $1
       AND NOT EXISTS (SELECT 1 FROM events e WHERE e.job_id = j.job_id AND e.type = 'ledger.difference')`,
    [uuid],
  );
  if (rows[0] === undefined) return;
  await insertEvent(client, {
    tenantId: rows[0].tenant_id,
    jobId: uuid,
    type: 'ledger.difference',
    data: { job_id: subject.split(' ')[0] ?? '' },
  });
}
