import type pg from 'pg';
import type { Database } from '../db/client.ts';
import { jobIdOf, parseJobId } from '../db/ids.ts';
import type { JobKey } from '../db/job-rows.ts';
import { loadTargetPrices } from '../db/target-prices.ts';
import { inTransaction } from '../db/transaction.ts';
import { formatAmount, parseNumeric } from '../domain/money.ts';
import { PRICED_OUTCOME, type PricedOutcome, verifyCharge } from './verify-charge.ts';
import { type Report, verifyCorrectionRows } from './verify-corrections.ts';
import { verifyRetries } from './verify-retries.ts';
import { verifyRollups } from './verify-rollups.ts';
import { type JobSums, selectJobSums, verifyJobSums } from './verify-sums.ts';
import { verifyTasks } from './verify-tasks.ts';

/** One thing that does not add up: what was compared, what was found and what it should be. */
export interface LedgerDifference {
  readonly subject: string;
  readonly check: string;
  readonly found: string;
  readonly expected: string;
}

export interface LedgerReport {
  readonly jobs: number;
  readonly items: number;
  readonly differences: readonly LedgerDifference[];
}

/** Enough to see the fault; the rest has the same cause more often than not. */
const MAX_DIFFERENCES = 1_000;
const PAGE_ITEMS = 10_000;

/**
 * Recomputes a job's money, or everybody's, from the items and the price book, and names every difference: counts,
 * per-item charges, ledger sums, the law `reserved + overage = settled + released + held`, and the budgets. Reads only.
 */
export async function verifyLedger(
  db: Database,
  scope: { jobId?: string; since?: Date; onProgress?: () => void } = {},
): Promise<LedgerReport> {
  const differences: LedgerDifference[] = [];
  const report = (subject: string, check: string, found: unknown, expected: unknown): void => {
    if (String(found) !== String(expected) && differences.length < MAX_DIFFERENCES) {
      differences.push({ subject, check, found: String(found), expected: String(expected) });
    }
  };
  const jobs = await listJobs(db, scope);
  // Tasks are many and small; what is asked for by its id is looked at in full.
  const isSmall = ({ kind }: JobKey) => kind === 'task' && scope.jobId === undefined;
  let items = await verifyTasks(db, jobs.filter(isSmall), { report, onProgress: scope.onProgress });
  for (const job of jobs.filter((each) => !isSmall(each))) {
    scope.onProgress?.();
    const sums = await readJobSums(db, job);
    verifyJobSums(sums, report);
    items += await verifyItemPrices(db, sums, report);
    await verifyRollups(db, job, report);
    if (sums.wave_items > 0) await verifyRetries(db, job, report);
    if (sums.item_refunds + sums.ledger_refunds + sums.adjustments > 0) {
      await verifyCorrectionRows(db.pool, sums, report);
    }
  }
  if (scope.jobId === undefined) await verifyBudgets(db, report);
  return { jobs: jobs.length, items, differences };
}

async function listJobs(db: Database, { jobId, since }: { jobId?: string; since?: Date }): Promise<JobKey[]> {
  const named = jobId === undefined ? null : parseJobId(jobId);
  const { rows } = await db.pool.query<JobKey>(
    `SELECT kind, job_id AS uuid, bucket FROM batch_jobs
     WHERE reserved_amount IS NOT NULL AND ($1::uuid IS NULL OR job_id = $1 AND kind = $3)
       AND ($2::timestamptz IS NULL OR completed_at IS NULL OR completed_at >= $2)
     ORDER BY job_id`,
    [named?.uuid ?? null, since ?? null, named?.kind ?? null],
  );
  return rows;
}

const ONE_JOB = selectJobSums('j.job_id = $1 AND j.bucket = $2');

async function readJobSums(db: Database, job: JobKey): Promise<JobSums> {
  const read = (client: pg.PoolClient) => client.query<JobSums>(ONE_JOB, [job.uuid, job.bucket]);
  const { rows } = await inTransaction(db, read, { statementTimeoutMs: 0, setWise: true });
  if (rows[0] === undefined) throw new Error(`job ${jobIdOf(job)} has no hold or no progress row`);
  return rows[0];
}

/** Prices every outcome again from its usage, page by page. */
async function verifyItemPrices(db: Database, job: JobSums, report: Report): Promise<number> {
  const findPrice = await loadTargetPrices(db.pool, {
    uuid: job.job_id,
    submissionNo: job.submission_no,
    submittedAt: job.submitted_at,
  });
  let after = 0;
  let items = 0;
  for (;;) {
    const { rows } = await db.pool.query<PricedOutcome>(
      `SELECT ${PRICED_OUTCOME}
       FROM item_outcomes o JOIN batch_shards s ON s.job_id = o.job_id AND s.shard = o.shard
       WHERE o.job_id = $1 AND o.bucket = $2 AND o.item_no > $3 ORDER BY o.item_no LIMIT ${PAGE_ITEMS}`,
      [job.job_id, job.bucket, after],
    );
    for (const row of rows)
      verifyCharge(
        jobIdOf({ kind: job.kind, uuid: job.job_id }),
        row,
        { findPrice, priceMode: job.price_mode },
        report,
      );
    items += rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ITEMS) return items;
    after = last.item_no;
  }
}

/** What every budget holds and has settled, from the holds and jobs that belong to each of its periods. */
async function verifyBudgets(db: Database, report: Report): Promise<void> {
  const { rows } = await db.pool.query(
    `SELECT s.budget_id, to_char(s.period_start, 'YYYY-MM-DD') AS period_start, s.held, s.settled,
       coalesce(h.held, 0) AS expected_held, coalesce(h.settled, 0) AS expected_settled
     FROM budget_periods s
     LEFT JOIN (
       SELECT h.budget_id, h.period_start, sum(h.amount - h.drawn - coalesce(h.released, 0)) AS held, sum(p.settled_amount) AS settled
       FROM holds h
       JOIN batch_jobs j ON j.job_id = h.job_id AND j.submission_no = h.submission_no
       JOIN job_progress p ON p.job_id = h.job_id
       GROUP BY h.budget_id, h.period_start
     ) h ON h.budget_id = s.budget_id AND h.period_start = s.period_start`,
  );
  for (const row of rows) {
    const subject = `budget ${row.budget_id} from ${row.period_start}`;
    report(subject, 'held', formatAmount(parseNumeric(row.held)), formatAmount(parseNumeric(row.expected_held)));
    report(
      subject,
      'settled',
      formatAmount(parseNumeric(row.settled)),
      formatAmount(parseNumeric(row.expected_settled)),
    );
  }
}
