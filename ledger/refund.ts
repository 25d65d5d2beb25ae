import type pg from 'pg';
import { fromUuid } from '../db/ids.ts';
import type { JobRow } from '../db/job-rows.ts';
import { lockProgressRow } from '../db/job-settlement.ts';
import { isTerminal } from '../domain/job-state.ts';
import { ledgerEvent } from '../domain/ledger-entry.ts';
import { type Amount, formatNumeric, parseNumeric } from '../domain/money.ts';
import { splitCharge } from '../domain/overage.ts';
import { appendEntry } from './entries.ts';
import { appendCorrections, recharge } from './recharge.ts';

export interface RefundRequest {
  readonly customId: string;
  /** Null gives back as much as can be. */
  readonly amount: Amount | null;
  readonly reason: string;
  /** The key's id. */
  readonly actor: string;
}

/** A refund as it is on record. */
export interface Refund {
  readonly itemId: string;
  readonly charged: Amount;
  readonly refunded: Amount;
  readonly reason: string;
  readonly actor: string;
  readonly refundedAt: Date;
}

export type RefundResult =
  /** `isNew` is false where the same refund had been made before. */
  | { readonly kind: 'refunded'; readonly refund: Refund; readonly isNew: boolean }
  | { readonly kind: 'no_item' | 'not_settled' | 'nothing_charged' }
  /** Another amount or reason was given the first time. */
  | { readonly kind: 'refunded_otherwise'; readonly refund: Refund }
  /** More than the item was charged, or than the job is still charged. */
  | { readonly kind: 'too_much'; readonly most: Amount };

/**
 * Gives back what an item was charged, or a part of it, once for an item: on the item, the job and every budget its
 * money belongs to. What no longer is charged is held again while the job runs, and released once it has ended. The
 * job's row must be locked.
 */
export async function refundItem(client: pg.PoolClient, job: JobRow, request: RefundRequest): Promise<RefundResult> {
  const before = await lockProgressRow(client, job.key);
  const item = await lockItem(client, job, request.customId);
  if (item === null) return { kind: 'no_item' };
  if (before === null || !item.isSettled) return { kind: 'not_settled' };
  const earlier = await findRefund(client, job, item);
  if (earlier !== null) {
    const isSame = earlier.reason === request.reason && (request.amount ?? earlier.refunded) === earlier.refunded;
    return isSame
      ? { kind: 'refunded', refund: earlier, isNew: false }
      : { kind: 'refunded_otherwise', refund: earlier };
  }
  const { covered: most } = splitCharge(before, item.charged);
  if (most === 0n) return { kind: 'nothing_charged' };
  const amount = request.amount ?? most;
  if (amount > most) return { kind: 'too_much', most };
  await record(client, job, item, { ...request, amount }, before);
  const refund = await findRefund(client, job, item);
  if (refund === null) throw new Error('a refund that was recorded was not found');
  return { kind: 'refunded', refund, isNew: true };
}

interface LockedItem {
  readonly itemNo: number;
  readonly itemId: string;
  readonly isSettled: boolean;
  readonly charged: Amount;
}

/** The last of the item's retry chain, as everywhere it is asked for by its custom id. */
async function lockItem(client: pg.PoolClient, job: JobRow, customId: string): Promise<LockedItem | null> {
  const { rows } = await client.query<{ item_no: number; item_id: string; is_settled: boolean; charged: string }>(
    `SELECT i.item_no, i.item_id, i.settled_amount AS charged,
       EXISTS (SELECT 1 FROM item_outcomes o WHERE o.bucket = $1 AND o.job_id = $2 AND o.item_no = i.item_no) AS is_settled
     FROM batch_items i WHERE i.bucket = $1 AND i.job_id = $2 AND i.manifest_no = $3 AND i.custom_id = $4
     ORDER BY i.item_attempt DESC LIMIT 1 FOR NO KEY UPDATE OF i`,
    [job.key.bucket, job.key.uuid, job.manifestNo, customId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    itemNo: row.item_no,
    itemId: fromUuid('item', row.item_id),
    isSettled: row.is_settled,
    charged: parseNumeric(row.charged),
  };
}

async function findRefund(client: pg.PoolClient, job: JobRow, item: LockedItem): Promise<Refund | null> {
  const { rows } = await client.query<{ amount: string; actor: string; cause: string; created_at: Date }>(
    `SELECT amount, actor, cause, created_at FROM ledger_entries
     WHERE bucket = $1 AND subject_id = $2 AND item_no = $3 AND event = $4`,
    [job.key.bucket, job.key.uuid, item.itemNo, ledgerEvent(job.kind, 'item.refunded')],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { itemId, charged } = item;
  const { actor, cause: reason, created_at: refundedAt } = row;
  return { itemId, charged, refunded: parseNumeric(row.amount), reason, actor, refundedAt };
}

async function record(
  client: pg.PoolClient,
  job: JobRow,
  { itemNo }: LockedItem,
  { amount, reason, actor }: RefundRequest & { readonly amount: Amount },
  before: Amount,
): Promise<void> {
  const entry = { itemNo, ordinal: job.submissionNo, actor, cause: reason };
  await appendEntry(client, job.key, { ...entry, act: 'item.refunded', amount });
  await client.query('UPDATE batch_items SET refunded_amount = $4 WHERE bucket = $1 AND job_id = $2 AND item_no = $3', [
    job.key.bucket,
    job.key.uuid,
    itemNo,
    formatNumeric(amount),
  ]);
  const change = { before, after: before - amount };
  await recharge(client, job, change);
  if (isTerminal(job.state)) await appendCorrections(client, job, { ...entry, cause: 'refund' }, change);
}
