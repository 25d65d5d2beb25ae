import { isStorable } from '../../contracts/metadata.ts';
import type { ItemRefund, RefundItem } from '../../contracts/refund.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { findLockedJobRow, type JobRow } from '../../db/job-rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import type { Principal } from '../../domain/principal.ts';
import { type Refund, type RefundResult, refundItem } from '../../ledger/refund.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type KeptAnswer, once } from './once.ts';
import { noSuchJob } from './owned-job.ts';

const LOCK_TIMEOUT_MS = 5_000;

export interface RefundItemRequest {
  readonly principal: Principal;
  readonly jobId: string;
  readonly customId: string;
  readonly refund: RefundItem;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Gives back what an item of any tenant's job, or a document of any run, was charged, once; the same refund again answers the first. Throws
 * `not_found`, or `conflict` for an item that has not settled, cost nothing, was refunded otherwise, or was charged less.
 */
export async function refundJobItem(
  { db }: Pick<ApiDependencies, 'db'>,
  { principal, jobId, customId, refund: { reason, amount }, idempotency }: RefundItemRequest,
): Promise<KeptAnswer> {
  const wanted = amount === undefined ? null : parseAmount(amount);
  return inTransaction(
    db,
    (client) =>
      once(client, idempotency, async () => {
        const job = await findLockedJobRow(client, jobId);
        if (job === null || job.kind === 'task') throw noSuchJob();
        const request = { customId, amount: wanted, reason, actor: principal.keyId };
        const result: RefundResult = isStorable(customId)
          ? await refundItem(client, job, request)
          : { kind: 'no_item' };
        if (result.kind !== 'refunded') throw refuseRefund(result, 'item', job);
        const entry = {
          act: 'operator.refund',
          actor: principal.keyId,
          tenantId: job.tenantId,
          subject: jobId,
        } as const;
        if (result.isNew) await recordAudit(client, { ...entry, details: { item_id: result.refund.itemId } });
        return { status: 200, body: JSON.stringify(presentRefund(job, customId, result.refund)) };
      }),
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
}

/** `what` was to be refunded: an item, or a task. */
export function refuseRefund(
  result: Exclude<RefundResult, { kind: 'refunded' }>,
  what: 'item' | 'task',
  { currency }: Pick<JobRow, 'currency'>,
): GatewayError {
  switch (result.kind) {
    case 'no_item':
      return new GatewayError('not_found', `No such ${what}.`);
    case 'not_settled':
      return new GatewayError('conflict', `The ${what} has not settled: nothing was charged for it yet.`);
    case 'nothing_charged':
      return new GatewayError('conflict', `Nothing is charged for the ${what} that could be given back.`);
    case 'refunded_otherwise': {
      const { refunded, refundedAt } = result.refund;
      const message = `The ${what} was refunded ${formatAmount(refunded)} ${currency} at ${refundedAt.toISOString()}, and is refunded once.`;
      return new GatewayError('conflict', message);
    }
    case 'too_much': {
      const message = `At most ${formatAmount(result.most)} ${currency} can be given back for the ${what}.`;
      return new GatewayError('conflict', message, { field: 'amount' });
    }
  }
}

function presentRefund(job: JobRow, customId: string, refund: Refund): ItemRefund {
  return {
    job_id: job.jobId,
    item_id: refund.itemId,
    custom_id: customId,
    charged: formatAmount(refund.charged),
    refunded: formatAmount(refund.refunded),
    currency: job.currency,
    reason: refund.reason,
    actor: refund.actor,
    refunded_at: refund.refundedAt.toISOString(),
  };
}
