import { insertEvent } from '../db/events.ts';
import { purgeIdempotencyKeys } from '../db/idempotency-keys.ts';
import { parseJobId } from '../db/ids.ts';
import { reapOldGenerations } from '../db/old-manifests.ts';
import { ensurePartitions } from '../db/partitions.ts';
import { purgeProviderWebhookEvents } from '../db/provider-webhook-events.ts';
import { measureResults } from '../db/result-bytes.ts';
import { type NewFinding, purgeFindings, recordFinding } from '../db/sweep-findings.ts';
import { inTransaction } from '../db/transaction.ts';
import { purgeDeliveries } from '../db/webhook-deliveries.ts';
import { type LedgerDifference, verifyLedger } from '../ledger/verify.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { deleteDueContent } from './due-content.ts';
import { translateFailures } from './failures.ts';
import { beat } from './heartbeats.ts';
import type { MaintenanceActivities } from './interfaces.ts';
import { createSweepDocuments, createSweepRuns } from './sweeps/documents.ts';
import { createSweepMoney } from './sweeps/held-money.ts';
import { createSweepTasks } from './sweeps/overdue-tasks.ts';
import { createSweepDeadlines } from './sweeps/passed-deadlines.ts';
import { createSweepShards } from './sweeps/quiet-shards.ts';
import { createRecoverJobs } from './sweeps/stranded-jobs.ts';
import { createSweepRoom } from './sweeps/stray-room.ts';
import { createSweepSurplus } from './sweeps/surplus-batches.ts';
import { createSweepTaskSlots } from './sweeps/task-slots.ts';
import { createSweepCreates } from './sweeps/unanswered-creates.ts';
import { createSweepWebhooks } from './sweeps/undelivered-webhooks.ts';

/** Ended jobs are verified for this long after their end; older ones by `ledger verify`. */
const VERIFY_BACK_MS = 24 * 3_600_000;
/** After the end of a webhook's delivery it may be replayed for as long. */
const KEEP_DELIVERIES_MS = 30 * 24 * 3_600_000;

/** Sweeps: each finds what something else should have done, and does it. Harmless to repeat and to run twice at once. */
export function createMaintenanceActivities(dependencies: ActivityDependencies): MaintenanceActivities {
  const { db, now, log } = dependencies;
  return translateFailures<MaintenanceActivities>({
    recoverJobs: createRecoverJobs(dependencies),
    sweepShards: createSweepShards(dependencies),
    sweepDeadlines: createSweepDeadlines(dependencies),
    sweepCreates: createSweepCreates(dependencies),
    sweepMoney: createSweepMoney(dependencies),
    sweepRoom: createSweepRoom(dependencies),
    sweepSurplus: createSweepSurplus(dependencies),
    sweepWebhooks: createSweepWebhooks(dependencies),
    sweepTasks: createSweepTasks(dependencies),
    sweepTaskSlots: createSweepTaskSlots(dependencies),
    sweepRuns: createSweepRuns(dependencies),
    sweepDocuments: createSweepDocuments(dependencies),

    verifyLedgers: async () => {
      const report = await verifyLedger(db, { since: new Date(now().getTime() - VERIFY_BACK_MS), onProgress: beat });
      for (const difference of report.differences) {
        log.warn({ ...difference }, 'ledger difference');
        await inTransaction(db, (client) => announceDifference(client, difference.subject));
        await recordFinding(db.pool, findingOf(difference), now());
      }
      return { checked: report.jobs, differences: report.differences.length };
    },

    tidyTables: async () => {
      await ensurePartitions(db.pool, now().getTime());
      const keys = await purgeIdempotencyKeys(db.pool, now());
      const events = await purgeProviderWebhookEvents(db.pool, now());
      const items = await reapOldGenerations(db, now());
      const findings = await purgeFindings(db.pool, now());
      await measureResults(db.pool);
      const deliveries = await purgeDeliveries(db.pool, new Date(now().getTime() - KEEP_DELIVERIES_MS));
      const jobs = await deleteDueContent(dependencies);
      return { removed: keys + events + items + findings + deliveries + jobs };
    },
  });
}

function findingOf({ subject, check, found, expected }: LedgerDifference): NewFinding {
  const jobId = subject.split(' ')[0] ?? '';
  return {
    kind: 'ledger_difference',
    subject: `${subject}: ${check}`,
    jobId: parseJobId(jobId) === null ? null : jobId,
    tenantId: null,
    facts: { check, found, expected },
    repair: 'nothing',
  };
}

/** To the tenant of the job; a difference of a budget is told to operators alone. */
async function announceDifference(client: Parameters<typeof insertEvent>[0], subject: string): Promise<void> {
  const jobId = subject.split(' ')[0] ?? '';
  const named = parseJobId(jobId);
  if (named === null) return;
  const { rows } = await client.query<{ tenant_id: string }>(
    `SELECT tenant_id FROM batch_jobs j WHERE job_id = $1
       AND NOT EXISTS (SELECT 1 FROM events e WHERE e.job_id = j.job_id AND e.type = 'ledger.difference')`,
    [named.uuid],
  );
  if (rows[0] === undefined) return;
  await insertEvent(client, {
    tenantId: rows[0].tenant_id,
    jobId: named.uuid,
    subjectId: jobId,
    type: 'ledger.difference',
    data: { job_id: jobId },
  });
}
