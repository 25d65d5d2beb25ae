import type pg from 'pg';
import { type DataDeletion, ITS_DOCUMENTS } from './data-deletions.ts';
import { contentDueSql } from './documents.ts';
import { isOnItsWaySql } from './unsent-documents.ts';

type Client = pg.PoolClient;

/**
 * Canceled is what waits, of which nothing is on its way to a provider: a create that was sent may be charged for, so its documents
 * are taken up with it, or wait again where it comes to nothing. Who sends one has the row of its job locked; whoever cancels
 * has it too, so that each sees what the other did.
 */
async function cancelQueued(client: Client, condition: string, values: readonly unknown[], at: Date): Promise<number> {
  const $at = `$${values.length + 1}`;
  const completedAt = `greatest(d.created_at, ${$at}::timestamptz)`;
  const { rowCount } = await client.query(
    `UPDATE documents d SET state = 'canceled', completed_at = ${completedAt}, content_due_at = ${contentDueSql(completedAt)}
     WHERE ${condition} AND d.state = 'queued' AND NOT ${isOnItsWaySql('d')}`,
    [...values, at],
  );
  return rowCount ?? 0;
}

/** Locks the jobs in which documents wait, always in the same order. */
async function lockJobs(client: Client, condition: string, values: readonly unknown[]): Promise<void> {
  await client.query(
    `SELECT 1 FROM batch_jobs WHERE job_id IN (SELECT d.run_id FROM documents d WHERE ${condition} AND d.state = 'queued')
     ORDER BY job_id FOR NO KEY UPDATE`,
    [...values],
  );
}

/** Cancels what of a batch waits; answers how many. The batch must be locked. */
export async function cancelQueuedOfBatch(client: Client, batchId: string, at: Date): Promise<number> {
  const [condition, values] = ['d.batch_id = $1', [batchId]] as const;
  await lockJobs(client, condition, values);
  return cancelQueued(client, condition, values, at);
}

/** Cancels what of a run waits; answers how many. The row of its job must be locked. */
export async function cancelQueuedOfRun(client: Client, runUuid: string, at: Date): Promise<number> {
  return cancelQueued(client, 'd.run_id = $1', [runUuid], at);
}

/** The same of a run whose batch was deleted, and of no other: what had been on its way then, and came back. */
export async function cancelQueuedIfDeleted(client: Client, runUuid: string, at: Date): Promise<number> {
  const isDeleted =
    'EXISTS (SELECT FROM document_batches b WHERE b.batch_id = d.batch_id AND b.deleted_at IS NOT NULL)';
  return cancelQueued(client, `d.run_id = $1 AND ${isDeleted}`, [runUuid], at);
}

/** Cancels what of a customer waits whose data is to go. */
export async function cancelQueuedOfCustomer(
  client: Client,
  { tenantId, customerId, requestedAt }: Pick<DataDeletion, 'tenantId' | 'customerId' | 'requestedAt'>,
  at: Date,
): Promise<number> {
  const values = [tenantId, customerId, requestedAt];
  await lockJobs(client, ITS_DOCUMENTS, values);
  return cancelQueued(client, ITS_DOCUMENTS, values, at);
}
