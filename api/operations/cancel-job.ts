import { insertEvent } from '../../db/events.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { cancelDraft, lockJobInScope } from '../../db/job-changes.ts';
import { lockJobRow } from '../../db/job-rows.ts';
import type { JobScope } from '../../db/job-scope.ts';
import { findJob } from '../../db/jobs.ts';
import { insertOperatorAct } from '../../db/operator-acts.ts';
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
        const locked = await lockJobInScope(client, scope, jobId);
        if (locked === null) throw noSuchJob();
        const isOpen = !isTerminal(locked.state) && locked.state !== 'draft';
        const act = { act: 'cancel', shard: null, actor: principal.keyId, reason } as const;
        if (scope === null && !isTerminal(locked.state)) await insertOperatorAct(client, locked.uuid, act);
        if (await cancelDraft(client, locked.uuid, { ...wish, at: now() })) {
          const data = { job_id: jobId, status: 'cancelled' };
          await insertEvent(client, {
            tenantId: locked.tenantId,
            jobId: locked.uuid,
            type: 'batch_job.cancelled',
            data,
          });
        } else if (isOpen) {
          await recordJobCancel(client, await lockJobRow(client, jobId), { ...wish, now: now() });
        }
        const job = await findJob(client, scope, jobId);
        if (job === null) throw noSuchJob();
        return { status: isOpen ? 202 : 200, body: JSON.stringify(presentJob(asShownTo(principal, job))) };
      }),
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
  if (answer.status !== 202) return answer;
  const signalled = await workflows.signalCancel(jobId, wish);
  logger.info({ job_id: jobId, signalled }, 'cancel requested');
  return answer;
}
