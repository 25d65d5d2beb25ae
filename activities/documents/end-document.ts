import { hash } from 'node:crypto';
import type pg from 'pg';
import { setRequestHash } from '../../db/document-items.ts';
import { type JobRow, lockJobRow } from '../../db/job-rows.ts';
import type { StagedLine } from '../../db/result-stage.ts';
import { type DocumentEnd, endProcessing, lockAttempted } from '../../db/run-documents.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { endDirectItems } from '../../ledger/end-direct-job.ts';
import { settleLine } from '../../ledger/settle.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { DocumentAttempt } from './load-attempt.ts';

/** How an attempt ends its document and settles its item. */
export interface AttemptEnd {
  readonly line: StagedLine;
  readonly end: DocumentEnd;
  /** Null where none was made. */
  readonly request: JsonObject | null;
}

/**
 * Ends a document with its rows, settles its item, and closes its job where that was the last one, in one transaction. Only if
 * the attempt is still the one under way: what a worker brings that had been taken for dead changes nothing.
 */
export async function endDocument(
  dependencies: Pick<ActivityDependencies, 'db' | 'now' | 'log'>,
  attempt: DocumentAttempt,
  { line, end, request }: AttemptEnd,
): Promise<void> {
  const { run, document, shard, itemNo } = attempt;
  const requestHash = request === null ? null : hash('sha256', JSON.stringify(request));
  await ifUnderWay(dependencies, attempt, async (client, job, at) => {
    const { settled, charge } = await settleLine(client, { job, shard, attempt: document.attempts }, line);
    if (settled !== 1) throw new Error(`the item of ${document.documentId} has an outcome, and it is being processed`);
    if (requestHash !== null) await setRequestHash(client, job.key, itemNo, requestHash);
    await endProcessing(client, [{ uuid: document.uuid, ...end }], at);
    await endDirectItems(client, job, { runUuid: run.uuid, charge, at });
  });
}

/** Runs the statements if the attempt is still the one under way, with the rows of job and document locked. */
export async function ifUnderWay(
  { db, now, log }: Pick<ActivityDependencies, 'db' | 'now' | 'log'>,
  { job: { jobId }, document }: DocumentAttempt,
  write: (client: pg.PoolClient, job: JobRow, at: Date) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (client) => {
    const job = await lockJobRow(client, jobId);
    if (await lockAttempted(client, document)) return write(client, job, now());
    log.warn({ documentId: document.documentId, attempt: document.attempts }, 'an attempt came too late');
  });
}
