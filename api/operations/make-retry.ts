import type pg from 'pg';
import type { RetryJob } from '../../contracts/retry-job.ts';
import { requireActiveAccount } from '../../db/account-standing.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { countCopies, countGroups } from '../../db/copied-items.ts';
import { insertEvent } from '../../db/events.ts';
import { GroupTally } from '../../db/intake/group-tally.ts';
import { addItemGroups } from '../../db/item-groups.ts';
import type { ItemRow } from '../../db/item-rows.ts';
import {
  claimCorrected,
  claimItems,
  copyRequests,
  listRetriedOfClass,
  type RetrySelection,
} from '../../db/manual-retry.ts';
import { findLeftOver, findNamedItems } from '../../db/retry-outlook.ts';
import { insertRetryJob, lockRetrySource, type RetrySource, type RetryTarget } from '../../db/retry-source.ts';
import { requireCapsOfNewJob } from '../../db/tenant-caps.ts';
import { copyJobWebhook } from '../../db/webhook-secrets.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isTerminal } from '../../domain/job-state.ts';
import { nothingToRetry, type RetryWish, requireRetriable, retriedClasses } from '../../domain/manual-retry.ts';
import type { Principal } from '../../domain/principal.ts';
import { noSuchJob, tenantScope } from './owned-job.ts';
import { readCorrections } from './retry-corrections.ts';

export interface RetryToMake {
  readonly principal: Principal;
  readonly jobId: string;
  readonly newJobId: string;
  readonly retry: RetryJob;
  readonly maxRequestBytes: number;
  readonly at: Date;
}

/**
 * Makes a draft of the items of an ended job that the wish takes, in the caller's transaction and set-wise whatever their
 * number. The original's row is locked first, so of two retries at once the second finds the items taken. Throws
 * `not_found`, `conflict`, `job_not_finished`, `request_not_stored`, `tenant_suspended`, `nothing_to_retry`,
 * `quota_exceeded`, `retry_not_allowed`, `safety_acknowledgement_required` or what is wrong with a corrected request.
 */
export async function makeRetry(client: pg.PoolClient, making: RetryToMake): Promise<{ jobId: string; uuid: string }> {
  const { principal, retry } = making;
  const source = requireRetriableJob(await lockRetrySource(client, tenantScope(principal), making.jobId), retry);
  await requireActiveAccount(client, source);
  const wish = wishOf(retry);
  const selection = { ...wish, classes: retriedClasses(wish) };
  const model = retry.model ?? null;
  const corrections = readCorrections(retry.requests ?? {}, source, { model, maxRequestBytes: making.maxRequestBytes });
  if (wish.customIds !== null) requireRetriable(await findNamedItems(client, source, wish.customIds), wish);
  const job = { jobId: making.newJobId, apiKeyId: principal.keyId, model, createdAt: making.at };
  const target = await insertRetryJob(client, source, job);
  await copyJobWebhook(client, making.jobId, job);
  const taken = await fill(client, source, target, { selection, corrections, followsJob: model !== null });
  if (taken === 0) throw nothingToRetry(await findLeftOver(client, source, wish.customIds));
  const retried = {
    act: 'job.retried',
    actor: principal.keyId,
    tenantId: source.tenantId,
    subject: making.jobId,
  } as const;
  await recordAudit(client, { ...retried, details: { retry_job_id: making.newJobId, items: taken } });
  if (wish.acknowledgesSafety) await recordAcknowledgement(client, source, target, making);
  await requireCapsOfNewJob(client, source.tenantId, target.uuid);
  return { jobId: making.newJobId, uuid: target.uuid };
}

function wishOf({
  classes,
  custom_ids: customIds,
  requests = {},
  acknowledge_safety: acknowledges,
}: RetryJob): RetryWish {
  return {
    classes: classes ?? null,
    customIds: customIds === undefined ? null : [...new Set(customIds)],
    corrected: Object.keys(requests),
    acknowledgesSafety: acknowledges === true,
  };
}

function requireRetriableJob(source: RetrySource | null, { requests = {} }: RetryJob): RetrySource {
  if (source === null) throw noSuchJob();
  if (source.state === 'draft') {
    throw new GatewayError('conflict', 'The job is a draft: nothing of it has run. Submit it.');
  }
  if (!isTerminal(source.state)) {
    throw new GatewayError(
      'job_not_finished',
      `The job is ${source.state}, and its answers may still come. Retry once it has ended; a cancel ends it early.`,
    );
  }
  if (!source.hasRequests && Object.keys(requests).length === 0) throw requestNotStored();
  return source;
}

function requestNotStored(): GatewayError {
  return new GatewayError(
    'request_not_stored',
    'The requests of this job are not stored any more, nor are its request_defaults. Give the whole request of every item ' +
      'that is to be retried in requests, and name no other in custom_ids; or send the items in a new job.',
    { field: 'requests' },
  );
}

interface Filling {
  readonly selection: RetrySelection;
  readonly corrections: readonly ItemRow[];
  /** Items run on the job's model, whatever model they asked for. */
  readonly followsJob: boolean;
}

/** Answers how many items the job has now. */
async function fill(
  client: pg.PoolClient,
  source: RetrySource,
  target: RetryTarget,
  { selection, corrections, followsJob }: Filling,
): Promise<number> {
  const copies = await claimItems(client, source, target, selection, { followsJob });
  const isStored = source.hasRequests || copies === 0;
  if (!isStored || (await copyRequests(client, source, target)) !== copies) throw requestNotStored();
  await countCopies(client, source, target);
  if (corrections.length > 0) await fillCorrected(client, source, target, { selection, corrections, copies });
  await countGroups(client, target.uuid);
  return copies + corrections.length;
}

async function fillCorrected(
  client: pg.PoolClient,
  source: RetrySource,
  target: RetryTarget,
  { selection, corrections, copies }: Pick<Filling, 'selection' | 'corrections'> & { readonly copies: number },
): Promise<void> {
  const taken = await claimCorrected(client, source, target, selection, {
    items: corrections,
    afterItemNo: copies,
  });
  const refused = selection.corrected.filter((customId) => !taken.has(customId));
  if (refused.length > 0) {
    const message =
      'there is no such item to retry: it is unknown, completed, retried already or left out by the other fields';
    throw new GatewayError('retry_not_allowed', `Nothing was retried: ${refused[0]}: ${message}.`, {
      field: 'requests',
      details: refused.map((customId) => ({ customId, field: 'requests', error: 'retry_not_allowed', message })),
    });
  }
  const tally = new GroupTally();
  for (const item of corrections) tally.add(item);
  await addItemGroups(client, { uuid: target.uuid, manifestNo: 1 }, tally.groups());
}

/** Who took it on themselves to send blocked items again. */
async function recordAcknowledgement(
  client: pg.PoolClient,
  source: RetrySource,
  target: RetryTarget,
  { principal, jobId, newJobId }: RetryToMake,
): Promise<void> {
  const customIds = await listRetriedOfClass(client, source, target, 'safety_blocked');
  if (customIds.length === 0) return;
  await recordAudit(client, {
    act: 'job.safety_acknowledged',
    actor: principal.keyId,
    tenantId: source.tenantId,
    subject: jobId,
    details: { retry_job_id: newJobId, items: customIds.length },
  });
  await insertEvent(client, {
    tenantId: source.tenantId,
    jobId: source.uuid,
    type: 'batch_job.safety_retry_acknowledged',
    data: { job_id: jobId, retry_job_id: newJobId, by: principal.keyId, custom_ids: customIds },
  });
}
