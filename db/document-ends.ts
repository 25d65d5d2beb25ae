import type pg from 'pg';
import { DOCUMENT_ERROR_OF } from '../domain/document-attempt.ts';
import { itemStateCode } from '../domain/item-state.ts';
import { contentDueSql } from './documents.ts';
import type { JobKey } from './job-rows.ts';

const ERROR_OF = JSON.stringify(DOCUMENT_ERROR_OF);
const COMPLETED = itemStateCode('completed');
const CANCELLED = itemStateCode('cancelled');

/**
 * Ends the documents of a run whose items, in a range, have settled without an answer: what was cancelled before it was
 * taken up is canceled, everything else has failed. In the transaction that settles them; repeating it changes nothing.
 */
export async function endUnanswered(
  client: pg.PoolClient,
  { uuid, bucket }: JobKey,
  { firstItemNo, lastItemNo }: { readonly firstItemNo: number; readonly lastItemNo: number },
): Promise<void> {
  const isCanceled = `d.state = 'queued' AND o.state = ${CANCELLED}`;
  const endedAt = 'greatest(o.settled_at, d.started_at, d.created_at)';
  await client.query(
    `UPDATE documents d SET state = CASE WHEN ${isCanceled} THEN 'canceled' ELSE 'failed' END,
       error_code = CASE WHEN ${isCanceled} THEN NULL ELSE coalesce($5::jsonb ->> o.error_code, 'internal') END,
       completed_at = ${endedAt}, content_due_at = ${contentDueSql(endedAt)}, leased_until = NULL, next_attempt_at = NULL
     FROM item_outcomes o
     WHERE o.job_id = $1 AND o.bucket = $2 AND o.item_no BETWEEN $3 AND $4 AND o.state <> ${COMPLETED}
       AND d.run_id = $1 AND d.item_no = o.item_no AND d.state IN ('queued', 'processing')`,
    [uuid, bucket, firstItemNo, lastItemNo, ERROR_OF],
  );
}
