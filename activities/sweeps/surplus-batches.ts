import {
  findTokens,
  type KnownToken,
  listNotFound,
  listUsedAccounts,
  type UsedAccount,
} from '../../db/attempt-tokens.ts';
import { getAttempt } from '../../db/attempts.ts';
import { isCreateUnanswered, listOwned } from '../../db/creates.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { type NewFinding, wasFound } from '../../db/sweep-findings.ts';
import { isSurplus } from '../../domain/surplus-batch.ts';
import type { BatchProvider, LabelledBatch } from '../../providers/provider.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { cancellationSignal } from '../heartbeats.ts';
import type { MaintenanceActivities, SweepResult } from '../interfaces.ts';
import { report, sweepEach } from './sweep-each.ts';

/** A batch runs for a day at most where the catalogue knows its window; older ones have cost what they cost. */
const LOOK_BACK_MS = 26 * 3_600_000;
/** Without labels each attempt is looked for by itself, which walks the list each time. */
const MAX_ATTEMPTS = 20;
/** Accounts in one sweep, each with a list of its own to walk; where more are in use, others have their turn next time. */
const MAX_ACCOUNTS = 50;

/**
 * Batches at a provider that are one too many. Where they carry a label it proves them: such a batch is cancelled and
 * reported. Where they carry none, those that may be of a create that was given up are reported and never touched.
 */
export function createSweepSurplus(dependencies: ActivityDependencies): MaintenanceActivities['sweepSurplus'] {
  return async () => {
    const sum = { looked: 0, repaired: 0, raised: 0, failed: 0 };
    const since = new Date(dependencies.now().getTime() - LOOK_BACK_MS);
    for (const account of await listUsedAccounts(dependencies.db.pool, since, MAX_ACCOUNTS)) {
      const result = await sweepAccount(dependencies, account);
      for (const count of ['looked', 'repaired', 'raised', 'failed'] as const) sum[count] += result[count];
    }
    return sum;
  };
}

/** One that is away is swept the next time. */
async function sweepAccount(dependencies: ActivityDependencies, account: UsedAccount): Promise<SweepResult> {
  const { providers, log } = dependencies;
  const provider = await providers.of(account.provider, account.credentialId);
  try {
    return provider.listLabelled === null
      ? await sweepUnlabelled(dependencies, provider, account)
      : await sweepLabelled(dependencies, provider, provider.listLabelled);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
    log.warn({ ...account, code: error.code, status: error.status }, 'batches could not be listed');
    return { looked: 0, repaired: 0, raised: 0, failed: 1 };
  }
}

async function sweepLabelled(
  dependencies: ActivityDependencies,
  provider: BatchProvider,
  listLabelled: NonNullable<BatchProvider['listLabelled']>,
): Promise<SweepResult> {
  const { db, now, settings } = dependencies;
  const createdAfter = new Date(now().getTime() - LOOK_BACK_MS);
  const listed = await listLabelled({ createdAfter, signal: cancellationSignal() });
  // Read after the list: what was made in between is not in it.
  const tokens = await findTokens(
    db.pool,
    provider.provider,
    listed.map(({ attemptToken }) => attemptToken),
  );
  const timing = { at: now(), listingLagMs: settings.listingLagMs };
  const surplus = listed.flatMap((entry) => {
    const holder = tokens.get(entry.attemptToken);
    return holder !== undefined && isSurplus(entry.batch.providerBatchId, holder, timing) ? [{ ...entry, holder }] : [];
  });
  const result = await sweepEach(
    dependencies,
    surplus,
    ({ batch }) => `${provider.provider}/${batch.providerBatchId}`,
    (entry) => endSurplus(dependencies, provider, entry),
  );
  return { ...result, looked: listed.length };
}

/** One that has ended is raised once: what it ran may have been billed. */
async function endSurplus(
  { db }: ActivityDependencies,
  provider: BatchProvider,
  { batch, holder }: LabelledBatch & { readonly holder: KnownToken },
): Promise<NewFinding | null> {
  const { jobId, tenantId, shard, attempt, createOutcome } = holder;
  const subject = `${provider.provider}/${batch.providerBatchId}`;
  const facts = { shard, attempt, create_outcome: createOutcome, native_status: batch.nativeStatus };
  const finding = { kind: 'surplus_batch', subject, jobId, tenantId } as const;
  if (batch.phase === 'ended') {
    if (await wasFound(db.pool, 'surplus_batch', subject)) return null;
    return { ...finding, facts, repair: 'nothing' };
  }
  const { providerBatchId } = batch;
  try {
    const { nativeStatus } = await provider.cancelBatch({ providerBatchId, signal: cancellationSignal() });
    return { ...finding, facts: { ...facts, native_status: nativeStatus, cancel: 'asked' }, repair: 'done' };
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
    return { ...finding, facts: { ...facts, cancel: 'refused', code: error.code }, repair: 'nothing' };
  }
}

async function sweepUnlabelled(
  dependencies: ActivityDependencies,
  provider: BatchProvider,
  account: UsedAccount,
): Promise<SweepResult> {
  const { db, now } = dependencies;
  const since = new Date(now().getTime() - LOOK_BACK_MS);
  const attempts = await listNotFound(db.pool, account, since, MAX_ATTEMPTS);
  let raised = 0;
  const result = await sweepEach(
    dependencies,
    attempts,
    ({ jobId, shard, attempt }) => `${jobId}/${shard}/${attempt}`,
    async (given) => {
      const findings = await lookForUnlabelled(dependencies, provider, given);
      for (const finding of findings) await report(dependencies, finding);
      raised += findings.length;
      return null;
    },
  );
  return { ...result, raised };
}

/** While another create under the credential is unanswered, a batch without a label may be that one's. */
async function lookForUnlabelled(
  { db }: ActivityDependencies,
  provider: BatchProvider,
  given: { readonly jobId: string; readonly shard: number; readonly attempt: number },
): Promise<NewFinding[]> {
  const { jobId, shard, attempt: attemptNo } = given;
  const job = await getJobRow(db.pool, jobId);
  const attempt = await getAttempt(db.pool, job.key, shard, attemptNo);
  const { attemptToken, inputFileId, itemCount } = attempt;
  const createdAfter = attempt.createStartedAt ?? attempt.createdAt;
  const signal = cancellationSignal();
  const found = await provider.findBatches({ attemptToken, inputFileId, itemCount, createdAfter, signal });
  if (await isCreateUnanswered(db.pool, job.key, attempt)) return [];
  const owned = await listOwned(
    db.pool,
    job.key,
    attempt,
    found.map(({ providerBatchId }) => providerBatchId),
  );
  const findings: NewFinding[] = [];
  for (const { providerBatchId, nativeStatus } of found) {
    const subject = `${provider.provider}/${providerBatchId}`;
    if (owned.has(providerBatchId) || (await wasFound(db.pool, 'possible_surplus_batch', subject))) continue;
    const facts = { shard, attempt: attemptNo, native_status: nativeStatus };
    const { tenantId } = job;
    findings.push({ kind: 'possible_surplus_batch', subject, jobId, tenantId, facts, repair: 'nothing' });
  }
  return findings;
}
