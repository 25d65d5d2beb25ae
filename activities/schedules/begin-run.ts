import type pg from 'pg';
import { CreateJob } from '../../contracts/create-job.ts';
import { readJobSettings } from '../../contracts/job-settings.ts';
import { findAccountSuspension } from '../../db/account-standing.ts';
import { findSchedule, type ScheduleRow } from '../../db/batch-schedules.ts';
import { newId } from '../../db/ids.ts';
import { findJobOwner } from '../../db/job-owner.ts';
import { insertJob } from '../../db/jobs.ts';
import { isKeyActive } from '../../db/key-holders.ts';
import { type CopySource, findCopySource } from '../../db/manifest-copy.ts';
import { findRun, insertRun, isScheduleBusy, type RunError, type RunOutcome } from '../../db/schedule-runs.ts';
import { readTenantTerms } from '../../db/storage-terms.ts';
import { findDraftExcess } from '../../db/tenant-caps.ts';
import { inTransaction } from '../../db/transaction.ts';
import { insertJobWebhook } from '../../db/webhook-secrets.ts';
import { suspensionMessage } from '../../domain/account-suspension.ts';
import { findTimeFault } from '../../domain/execution-times.ts';
import { type StorageTerms, storageTerms, stricterTerms } from '../../domain/storage-terms.ts';
import type { StoragePolicy } from '../../domain/tenant-policy.ts';
import type { Firing, ScheduleActivities } from '../interfaces.ts';
import type { ScheduleDependencies } from './dependencies.ts';
import { end } from './run-end.ts';

/** A run that has not ended for this long is one whose workflow was ended: it keeps no other from being made. */
const UNDER_WAY_MS = 24 * 3_600_000;

interface Decided {
  readonly jobId: string | null;
  readonly outcome: RunOutcome | null;
  readonly error: RunError | null;
}

/** Chooses the one job of a firing and makes its draft, in one transaction: a repeat finds it. */
export function createBeginRun(dependencies: ScheduleDependencies): ScheduleActivities['beginRun'] {
  const { db, now, clock, log } = dependencies;
  return async (firing) => {
    const decided = await inTransaction(db, async (client): Promise<Decided | null> => {
      const schedule = await findSchedule(client, null, firing.scheduleId, { lock: true });
      if (schedule === null) return null;
      const run = await findRun(client, firing.scheduleId, firing.firing);
      if (run !== null) return run;
      const at = now();
      const made = await decide(client, schedule, firing, at);
      const { scheduleId, firing: id, scheduledFor } = firing;
      const row = { scheduleId, firing: id, scheduledFor: new Date(scheduledFor), startedAt: at };
      await insertRun(client, { ...row, jobId: made.jobId });
      return made;
    });
    if (decided === null) {
      log.warn({ scheduleId: firing.scheduleId }, 'a schedule that is gone fired');
      await clock.remove(firing.scheduleId);
      return { kind: 'over', outcome: 'gone' };
    }
    if (decided.outcome !== null) return end(dependencies, firing, decided.outcome, decided.error);
    return { kind: 'go_on' };
  };
}

async function decide(client: pg.PoolClient, schedule: ScheduleRow, firing: Firing, at: Date): Promise<Decided> {
  const { tenantId, projectId, customerId, apiKeyId, scheduleId } = schedule;
  const isBusy = async () => isScheduleBusy(client, scheduleId, new Date(at.getTime() - UNDER_WAY_MS));
  if (schedule.overlap === 'skip' && (await isBusy())) return { jobId: null, outcome: 'skipped', error: null };
  if (!(await isKeyActive(client, apiKeyId, at)))
    return failed('forbidden', 'The key that made the schedule is not valid any more. Make the schedule anew.');
  const owner = await findJobOwner(client, { tenantId, projectId, customerId });
  if (owner === null) throw new Error(`the schedule ${scheduleId} belongs to a tenant that is not there`);
  const suspension = await findAccountSuspension(client, schedule);
  if (suspension !== null) return failed('tenant_suspended', suspensionMessage(suspension));
  const template = CreateJob.safeParse(schedule.job);
  if (!template.success)
    return failed('invalid_request', 'The gateway takes no such job any more. Make the schedule anew.');
  const settings = readJobSettings(template.data);
  const times = { ...settings.times, deadline: deadlineOf(schedule, firing) };
  const fault = findTimeFault(times, at);
  if (fault !== null) return failed(fault.code, fault.message);
  const excess = await findDraftExcess(client, tenantId);
  if (excess !== null) return failed(excess.code, excess.message);
  const source = await findSource(client, schedule);
  const requestDefaults = settings.requestDefaults ?? source?.requestDefaults ?? null;
  const terms = await termsOf(client, tenantId, settings.storage, source);
  const jobId = newId('job');
  if (
    settings.webhook !== null &&
    !(await insertJobWebhook(client, { jobId, apiKeyId, createdAt: at }, settings.webhook))
  )
    return failed('webhook_secret_missing', 'The secret that signs the webhooks of jobs has not been made yet.');
  const made = { jobId, tenantId, projectId, customerId, apiKeyId, currency: owner.currency, createdAt: at };
  await insertJob(client, { ...made, ...settings, requestDefaults, times, terms });
  return { jobId, outcome: null, error: null };
}

/** The job whose items are copied: they were measured with what was merged under them, */
async function findSource(client: pg.PoolClient, { items, ...schedule }: ScheduleRow): Promise<CopySource | null> {
  return items.manifest_of_job === undefined ? null : findCopySource(client, schedule, items.manifest_of_job);
}

/** and are kept no longer than there. A tenant made stricter since the schedule was made is no reason to make no job. */
async function termsOf(
  client: pg.PoolClient,
  tenantId: string,
  asked: StoragePolicy | null,
  source: CopySource | null,
): Promise<StorageTerms> {
  const terms = storageTerms(await readTenantTerms(client, tenantId), asked);
  return source === null ? terms : stricterTerms(terms, source.terms);
}

function deadlineOf({ deadlineAfterSeconds: seconds }: ScheduleRow, { scheduledFor }: Firing): Date | null {
  return seconds === null ? null : new Date(new Date(scheduledFor).getTime() + seconds * 1_000);
}

function failed(code: string, message: string): Decided {
  return { jobId: null, outcome: 'failed', error: { code, message } };
}
