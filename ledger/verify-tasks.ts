import type { Database } from '../db/client.ts';
import { jobIdOf } from '../db/ids.ts';
import type { JobKey } from '../db/job-rows.ts';
import type { StoredQuote } from '../db/submissions.ts';
import { targetPrices } from '../db/target-prices.ts';
import { PRICED_OUTCOME, type PricedOutcome, verifyCharge } from './verify-charge.ts';
import { type Report, verifyCorrectionRows } from './verify-corrections.ts';
import { DOUBTFUL_ROLLUPS, verifyRollups } from './verify-rollups.ts';
import { type JobSums, selectJobSums, verifyJobSums } from './verify-sums.ts';

/** Tasks that are looked at together: a few statements for all of them. */
const PAGE_TASKS = 500;

interface Verifying {
  readonly report: Report;
  readonly onProgress: (() => void) | undefined;
}

/**
 * Verifies jobs of one item as any other, but page by page: their sums and charges for all of a page at once, and their rollups
 * one by one only where a page's look finds something that may be wrong. Answers how many items there are.
 */
export async function verifyTasks(
  db: Database,
  tasks: readonly JobKey[],
  { report, onProgress }: Verifying,
): Promise<number> {
  let items = 0;
  for (let first = 0; first < tasks.length; first += PAGE_TASKS) {
    onProgress?.();
    items += await verifyPage(db, tasks.slice(first, first + PAGE_TASKS), report);
  }
  return items;
}

async function verifyPage(db: Database, page: readonly JobKey[], report: Report): Promise<number> {
  const { sums, doubtful } = await readPage(db, page);
  for (const each of sums) {
    verifyJobSums(each, report);
    if (each.item_refunds + each.ledger_refunds + each.adjustments > 0)
      await verifyCorrectionRows(db.pool, each, report);
  }
  const known = new Set(sums.map((each) => each.job_id));
  for (const task of page) {
    if (!known.has(task.uuid)) throw new Error(`job ${jobIdOf(task)} has no hold or no progress row`);
    if (doubtful.has(task.uuid)) await verifyRollups(db, task, report);
  }
  return verifyCharges(db, sums, report);
}

async function readPage(
  db: Database,
  page: readonly JobKey[],
): Promise<{ readonly sums: readonly JobSums[]; readonly doubtful: ReadonlySet<string> }> {
  const uuids = page.map(({ uuid }) => uuid);
  const buckets = [...new Set(page.map(({ bucket }) => bucket))];
  const { rows: sums } = await db.pool.query<JobSums>(SUMS_OF_TASKS, [uuids]);
  const { rows: found } = await db.pool.query<{ job_id: string }>(DOUBTFUL_ROLLUPS, [uuids, buckets]);
  return { sums, doubtful: new Set(found.map((row) => row.job_id)) };
}

const SUMS_OF_TASKS = selectJobSums('j.job_id = ANY($1::uuid[])');

interface TaskOutcome extends PricedOutcome {
  readonly job_id: string;
  readonly targets: StoredQuote['targets'] | null;
}

async function verifyCharges(db: Database, page: readonly JobSums[], report: Report): Promise<number> {
  const byId = new Map(page.map((sums) => [sums.job_id, sums]));
  const buckets = [...new Set(page.map(({ bucket }) => bucket))];
  const { rows } = await db.pool.query<TaskOutcome>(CHARGES, [[...byId.keys()], buckets]);
  for (const row of rows) {
    const sums = byId.get(row.job_id);
    if (sums === undefined) continue;
    const { kind, job_id: uuid, submitted_at: submittedAt, price_mode: priceMode } = sums;
    const findPrice = targetPrices(row.targets, submittedAt);
    verifyCharge(jobIdOf({ kind, uuid }), row, { findPrice, priceMode }, report);
  }
  return rows.length;
}

const CHARGES = `
  SELECT o.job_id, q.quote -> 'targets' AS targets, ${PRICED_OUTCOME}
  FROM item_outcomes o
  JOIN batch_shards s ON s.job_id = o.job_id AND s.shard = o.shard
  JOIN batch_jobs j ON j.job_id = o.job_id
  LEFT JOIN job_submissions q ON q.job_id = o.job_id AND q.submission_no = j.submission_no
  WHERE o.job_id = ANY($1::uuid[]) AND o.bucket = ANY($2::int[])`;
