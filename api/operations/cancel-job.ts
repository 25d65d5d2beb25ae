import type pg from 'pg';
import { recordAudit } from '../../db/audit-log.ts';
import { insertEvent } from '../../db/events.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { cancelDraft, lockJobInScope } from '../../db/job-changes.ts';
import { getJobRow, lockJobRow } from '../../db/job-rows.ts';
import type { JobScope } from '../../db/job-scope.ts';
import { findJob } from '../../db/jobs.ts';
import { insertOperatorAct } from '../../db/operator-acts.ts';
import { deleteEndedRequests } from '../../db/request-deletion.ts';
import { inTransaction } from '../../db/transaction.ts';
import { isTerminal } from '../../domain/job-state.ts';
import { recordJobCancel } from '../../ledger/cancels.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentJob } from '../presentation/job.ts';
import { asShownTo } from './customer-view.ts';
import { type KeptAnswer, once } from './once.ts';
import { type JobRequest, noSuchJob, tenantScope } from './owned-job.ts';

const LOCK_TIMEOUT_MS = 5_000;

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'workflows' | 'logger'>;

export interface CancelRequest extends JobRequest {
  readonly reason: string | null;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Asks for a job to be cancelled. 200 when it has ended, now (a draft) or before; 202 while billable work has still to
 * settle. The wish in the row is what counts: the workflow is only woken, and finds it there by itself otherwise.
 */
export async function cancelJob(dependencies: Dependencies, request: CancelRequest): Promise<KeptAnswer> {
  return cancelInScope(dependencies, tenantScope(request.principal), request);
}

/** As `cancelJob`, for an operator and any tenant's job. */
export async function cancelAnyJob(dependencies: Dependencies, request: CancelRequest): Promise<KeptAnswer> {
  return cancelInScope(dependencies, null, request);
}

async function cancelInScope(
  { db, now, workflows, logger }: Dependencies,
  scope: JobScope | null,
  { principal, jobId, reason, idempotency }: CancelRequest,
): Promise<KeptAnswer> {
  const wish = { by: principal.keyId, reason };
  const answer = await inTransaction(
    db,
    (client) =>
      once(client, idempotency, async () => {
        const isOpen = await requestCancel(client, scope, { principal, jobId, reason, now: now() });
        const job = await findJob(client, scope, jobId);
        if (job === null) throw noSuchJob();
        return { status: isOpen ? 202 : 200, body: JSON.stringify(presentJob(asShownTo(principal, job))) };
      }),
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
  if (answer.status !== 202) {
    // Of a draft that is not sent any more; what is left of it here is found and deleted later.
    await deleteEndedRequests(db.pool, (await getJobRow(db.pool, jobId)).key, now());
    return answer;
  }
  const signalled = await workflows.signalCancel(jobId, wish);
  logger.info({ job_id: jobId, signalled }, 'cancel requested');
  return answer;
}

/** Whether billable work has still to settle. What changes nothing is not put on record. */
async function requestCancel(
  client: pg.PoolClient,
  scope: JobScope | null,
  { principal, jobId, reason, now }: Omit<CancelRequest, 'idempotency'> & { readonly now: Date },
): Promise<boolean> {
  const wish = { by: principal.keyId, reason };
  const locked = await lockJobInScope(client, scope, jobId);
  if (locked === null) throw noSuchJob();
  const { tenantId, uuid, state } = locked;
  if (isTerminal(state)) return false;
  const act = { act: 'cancel', shard: null, actor: principal.keyId, reason } as const;
  if (scope === null) await insertOperatorAct(client, uuid, act);
  const entry = { actor: principal.keyId, tenantId, subject: jobId };
  const audited = { ...entry, act: scope === null ? 'operator.cancel' : 'job.cancelled' } as const;
  if (await cancelDraft(client, uuid, { ...wish, at: now })) {
    await recordAudit(client, audited);
    const data = { job_id: jobId, status: 'cancelled' };
    await insertEvent(client, { tenantId, jobId: uuid, type: 'batch_job.cancelled', data });
    return false;
  }
  const isNew = await recordJobCancel(client, await lockJobRow(client, jobId), { ...wish, now });
  if (isNew) await recordAudit(client, audited);
  return true;
}
