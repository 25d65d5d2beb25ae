import type pg from 'pg';
import type { Database } from '../db/client.ts';
import { jobIdOf, parseJobId } from '../db/ids.ts';
import type { JobKey } from '../db/job-rows.ts';
import { nameOf } from '../db/ledger-names.ts';
import { loadTargetPrices } from '../db/target-prices.ts';
import { inTransaction } from '../db/transaction.ts';
import type { JobKind } from '../domain/job-kind.ts';
import { isTerminal, type JobState } from '../domain/job-state.ts';
import { lawHolds } from '../domain/ledger-entry.ts';
import { formatAmount, formatNumeric, parseNumeric } from '../domain/money.ts';
import { type PriceMode, priceUsage } from '../domain/pricing.ts';
import {
  CORRECTION_SUMS,
  type CorrectionSums,
  JOIN_CORRECTIONS,
  type Report,
  verifyCorrectionRows,
  verifyCorrections,
} from './verify-corrections.ts';
import { verifyRetries } from './verify-retries.ts';
import { verifyRollups } from './verify-rollups.ts';

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

interface JobSums extends CorrectionSums {
  kind: JobKind;
  job_id: string;
  bucket: number;
  state: JobState;
  item_count: number;
  submission_no: number;
  submitted_at: Date;
  price_mode: PriceMode;
  reserved: string;
  counted: number;
  /** Items that the job made itself, to try others again. */
  wave_items: number;
  progress_items: number;
  progress_settled: string;
  outcome_items: number;
  outcome_amount: string;
  customer_amount: string;
  customer_settled_amount: string;
  item_amount: string;
  item_refunded: string;
  item_refunds: number;
  item_states_wrong: number;
  ledger_settled: string;
  ledger_refunded: string;
  ledger_refunds: number;
  /** Of adjustments on the tenant's account. */
  ledger_adjusted: string;
  drawn: string;
  released: string | null;
}

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
  let items = 0;
  const jobs = await listJobs(db, scope);
  for (const job of jobs) {
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

/** One snapshot for all sums of a job, so that a settlement in between cannot look like a difference. */
async function readJobSums(db: Database, job: JobKey): Promise<JobSums> {
  const read = (client: pg.PoolClient) => client.query<JobSums>(JOB_SUMS, [job.uuid, job.bucket]);
  const { rows } = await inTransaction(db, read, { statementTimeoutMs: 0, setWise: true });
  if (rows[0] === undefined) throw new Error(`job ${jobIdOf(job)} has no hold or no progress row`);
  return rows[0];
}

const JOB_SUMS = `
    SELECT j.kind, j.job_id, j.bucket, j.price_mode, j.state, j.item_count, coalesce((SELECT sum(w.items) FROM retry_waves w WHERE w.job_id = j.job_id AND w.started_at IS NOT NULL), 0)::int AS wave_items, j.submission_no, j.submitted_at, j.reserved_amount AS reserved,
       items.counted, items.amount AS item_amount, items.refunded AS item_refunded, items.refunds AS item_refunds, items.states_wrong AS item_states_wrong,
       p.completed + p.failed + p.expired + p.cancelled + p.retries AS progress_items, p.settled_amount AS progress_settled,
       outcomes.items AS outcome_items, outcomes.amount AS outcome_amount, outcomes.customer_amount, p.customer_settled_amount,
       l.settled AS ledger_settled, l.refunded AS ledger_refunded, l.refunds AS ledger_refunds, l.adjusted AS ledger_adjusted, h.drawn, h.released, ${CORRECTION_SUMS}
     FROM batch_jobs j
     JOIN job_progress p ON p.job_id = j.job_id
     JOIN holds h ON h.job_id = j.job_id AND h.submission_no = j.submission_no AND h.scope = 'tenant' AND h.period = 'total'
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS counted, coalesce(sum(i.settled_amount), 0) AS amount, coalesce(sum(i.refunded_amount), 0) AS refunded,
         count(*) FILTER (WHERE i.refunded_amount <> 0)::int AS refunds,
         count(*) FILTER (WHERE i.state <> coalesce(o.state, 0))::int AS states_wrong
       FROM batch_items i
       LEFT JOIN item_outcomes o ON o.job_id = i.job_id AND o.bucket = i.bucket AND o.item_no = i.item_no
       WHERE i.job_id = j.job_id AND i.bucket = j.bucket AND i.manifest_no = j.manifest_no
     ) items
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS items, coalesce(sum(amount), 0) AS amount,
         coalesce(sum(coalesce(customer_amount, amount)), 0) AS customer_amount FROM item_outcomes WHERE job_id = j.job_id AND bucket = j.bucket
     ) outcomes
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(amount) FILTER (WHERE event = ${nameOf('item.settled')}), 0) AS settled,
         coalesce(sum(amount) FILTER (WHERE event = ${nameOf('item.refunded')}), 0) AS refunded,
         count(*) FILTER (WHERE event = ${nameOf('item.refunded')})::int AS refunds,
         coalesce(sum(amount) FILTER (WHERE event = ${nameOf('adjusted')} AND account = 'tenant'), 0) AS adjusted
       FROM ledger_entries WHERE subject_id = j.job_id AND bucket = j.bucket
     ) l
     ${JOIN_CORRECTIONS}
     WHERE j.job_id = $1 AND j.bucket = $2`;

function verifyJobSums(sums: JobSums, report: Report): void {
  const subject = jobIdOf({ kind: sums.kind, uuid: sums.job_id });
  const settled = parseNumeric(sums.progress_settled);
  const reserved = parseNumeric(sums.reserved);
  const drawn = parseNumeric(sums.drawn);
  const released = sums.released === null ? 0n : parseNumeric(sums.released);
  const held = sums.released === null ? reserved - drawn : 0n;
  const overage = settled > reserved ? settled - reserved : 0n;
  const adjusted = parseNumeric(sums.ledger_adjusted);
  const against = (check: string, charged: string, refunded: string): void =>
    report(
      subject,
      check,
      formatAmount(settled),
      formatAmount(parseNumeric(charged) - parseNumeric(refunded) + adjusted),
    );
  report(subject, 'items stored', sums.counted, sums.item_count + sums.wave_items);
  report(subject, 'item states that differ from their outcome', sums.item_states_wrong, 0);
  report(subject, 'items counted as ended', sums.progress_items, sums.outcome_items);
  against('settled amount against outcomes', sums.outcome_amount, sums.ledger_refunded);
  against('settled amount against item rows', sums.item_amount, sums.item_refunded);
  against('settled amount against ledger entries', sums.ledger_settled, sums.ledger_refunded);
  report(
    subject,
    'amount shown to the customer',
    formatAmount(parseNumeric(sums.customer_settled_amount)),
    formatAmount(parseNumeric(sums.customer_amount)),
  );
  report(subject, 'drawn from the hold', formatAmount(drawn), formatAmount(settled - overage));
  if (isTerminal(sums.state)) {
    report(subject, 'items ended', sums.outcome_items, sums.item_count + sums.wave_items);
    report(subject, 'held after the end', formatAmount(held), formatAmount(0n));
  }
  verifyCorrections(subject, { state: sums.state, reserved, settled, released }, sums, report);
  const law = lawHolds({ reserved, overage, settled, released, held });
  report(subject, 'reserved + overage = settled + released + held', law, true);
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
    const { rows } = await db.pool.query(
      `SELECT o.item_no, o.state, o.input_tokens, o.cached_input_tokens, o.cache_write_tokens, o.long_cache_write_tokens, o.output_tokens, o.reasoning_tokens, o.amount,
         s.requested_model, s.provider, s.provider_model
       FROM item_outcomes o JOIN batch_shards s ON s.job_id = o.job_id AND s.shard = o.shard
       WHERE o.job_id = $1 AND o.bucket = $2 AND o.item_no > $3 ORDER BY o.item_no LIMIT ${PAGE_ITEMS}`,
      [job.job_id, job.bucket, after],
    );
    for (const row of rows) {
      const { price } = findPrice({
        requestedModel: row.requested_model,
        provider: row.provider,
        providerModel: row.provider_model,
      });
      const usage = {
        inputTokens: Number(row.input_tokens),
        cachedInputTokens: Number(row.cached_input_tokens),
        cacheWriteTokens: Number(row.cache_write_tokens),
        longCacheWriteTokens: Number(row.long_cache_write_tokens),
        outputTokens: Number(row.output_tokens),
        reasoningTokens: Number(row.reasoning_tokens),
        estimated: false,
      };
      report(
        `${jobIdOf({ kind: job.kind, uuid: job.job_id })} item ${row.item_no}`,
        'charge',
        row.amount,
        formatNumeric(priceUsage(price, usage, job.price_mode)),
      );
    }
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
