import type { Database } from '../db/client.ts';
import { jobIdOf } from '../db/ids.ts';
import type { JobKey } from '../db/job-rows.ts';
import { inTransaction } from '../db/transaction.ts';
import { itemStateCode } from '../domain/item-state.ts';
import { type EndedCount, moveCounts } from '../domain/settled-counts.ts';
import type { Report } from './verify-corrections.ts';

const COUNTED = ['completed', 'failed', 'expired', 'cancelled'] as const;

interface RetryFacts {
  readonly counts: { readonly [state in (typeof COUNTED)[number]]: number };
  readonly failures: Readonly<Record<string, number>>;
  readonly retries: number;
  readonly last_ends: readonly EndedCount[] | null;
  readonly retries_ended: number;
  readonly wrong_links: number;
}

/**
 * Counts the items of a job that has tried some of them again once more: each by the last of its tries that has ended. Looks
 * at the links between tries, too: both ways, of one custom id, each try one further, and none after one that completed.
 */
export async function verifyRetries(db: Database, job: JobKey, report: Report): Promise<void> {
  const subject = jobIdOf(job);
  const { rows } = await inTransaction(db, (client) => client.query<RetryFacts>(FACTS, [job.uuid, job.bucket]), {
    statementTimeoutMs: 0,
    setWise: true,
  });
  const [facts] = rows;
  if (facts === undefined) throw new Error(`job ${subject} has no progress row`);
  const { counts, failures } = moveCounts({}, facts.last_ends ?? [], []);
  for (const state of COUNTED) report(subject, `items ${state}`, facts.counts[state], counts[state]);
  report(subject, 'failures by code', inOrder(facts.failures), inOrder(failures));
  report(subject, 'retries', facts.retries, facts.retries_ended);
  report(subject, 'retries whose links are wrong', facts.wrong_links, 0);
}

function inOrder(failures: Readonly<Record<string, number>>): string {
  return JSON.stringify(Object.entries(failures).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const FACTS = `
  WITH tries AS MATERIALIZED (
    SELECT i.item_no, i.item_id, i.custom_id, i.item_attempt, i.retry_of_item_no, i.retry_of_item_id, i.retried_by_item_id, o.state, o.error_code
    FROM batch_jobs j
    JOIN batch_items i ON i.job_id = j.job_id AND i.bucket = j.bucket AND i.manifest_no = j.manifest_no
    LEFT JOIN item_outcomes o ON o.job_id = $1 AND o.bucket = $2 AND o.item_no = i.item_no
    WHERE j.job_id = $1 AND j.bucket = $2 AND i.job_id = $1 AND i.bucket = $2
  ),
  retries AS MATERIALIZED (SELECT * FROM tries WHERE retry_of_item_no IS NOT NULL)
  SELECT jsonb_build_object('completed', p.completed, 'failed', p.failed, 'expired', p.expired, 'cancelled', p.cancelled) AS counts,
    p.failures, p.retries,
    (SELECT jsonb_agg(ends) FROM (
      SELECT t.state, t.error_code, count(*)::int AS items
      FROM tries t LEFT JOIN retries next ON next.retry_of_item_no = t.item_no AND next.state IS NOT NULL
      WHERE t.state IS NOT NULL AND next.item_no IS NULL GROUP BY t.state, t.error_code
    ) ends) AS last_ends,
    (SELECT count(*)::int FROM retries WHERE state IS NOT NULL) AS retries_ended,
    (SELECT count(*)::int FROM retries r LEFT JOIN tries t ON t.item_no = r.retry_of_item_no
     WHERE (t.item_id, t.retried_by_item_id, t.custom_id, t.item_attempt + 1) IS DISTINCT FROM (r.retry_of_item_id, r.item_id, r.custom_id, r.item_attempt::int)
       OR coalesce(t.state, ${itemStateCode('completed')}) = ${itemStateCode('completed')}) AS wrong_links
  FROM job_progress p WHERE p.job_id = $1`;
