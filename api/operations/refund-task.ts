import type { RefundItem, TaskRefund } from '../../contracts/refund.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { toUuid } from '../../db/ids.ts';
import { findLockedJobRow, type JobRow } from '../../db/job-rows.ts';
import { TASK_CUSTOM_ID } from '../../db/task-intake.ts';
import { inTransaction } from '../../db/transaction.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import type { Principal } from '../../domain/principal.ts';
import { type Refund, type RefundResult, refundItem } from '../../ledger/refund.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type KeptAnswer, once } from './once.ts';
import { noSuchTask } from './owned-task.ts';
import { refuseRefund } from './refund-item.ts';

const LOCK_TIMEOUT_MS = 5_000;

export interface RefundTaskRequest {
  readonly principal: Principal;
  readonly taskId: string;
  readonly refund: RefundItem;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Gives back what any tenant's task was charged, once; the same refund again answers the first. Also after the 24 hours for which
 * its owner can poll it. Throws `not_found`, or `conflict` for a task that has not ended, cost nothing, was refunded otherwise, or
 * was charged less.
 */
export async function refundTask(
  { db }: Pick<ApiDependencies, 'db'>,
  { principal, taskId, refund: { reason, amount }, idempotency }: RefundTaskRequest,
): Promise<KeptAnswer> {
  if (toUuid('task', taskId) === null) throw noSuchTask();
  return inTransaction(
    db,
    (client) =>
      once(client, idempotency, async () => {
        const job = await findLockedJobRow(client, taskId);
        if (job === null) throw noSuchTask();
        const wanted = amount === undefined ? null : parseAmount(amount);
        const request = { customId: TASK_CUSTOM_ID, amount: wanted, reason, actor: principal.keyId };
        const result: RefundResult = await refundItem(client, job, request);
        if (result.kind !== 'refunded') throw refuseRefund(result, 'task', job);
        if (result.isNew) {
          const actor = principal.keyId;
          await recordAudit(client, { act: 'operator.refund', actor, tenantId: job.tenantId, subject: taskId });
        }
        return { status: 200, body: JSON.stringify(present(job, result.refund)) };
      }),
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
}

function present({ jobId, currency }: JobRow, refund: Refund): TaskRefund {
  return {
    task_id: jobId,
    charged: formatAmount(refund.charged),
    refunded: formatAmount(refund.refunded),
    currency,
    reason: refund.reason,
    actor: refund.actor,
    refunded_at: refund.refundedAt.toISOString(),
  };
}
