import type pg from 'pg';
import { jobIdOf } from '../db/ids.ts';
import { nameOf, namesOf } from '../db/ledger-names.ts';
import type { JobKind } from '../domain/job-kind.ts';
import { isTerminal, type JobState } from '../domain/job-state.ts';
import type { LedgerAct } from '../domain/ledger-entry.ts';
import { type Amount, formatAmount, parseNumeric } from '../domain/money.ts';
import { judgeOverage, type OveragePolicy, splitCharge } from '../domain/overage.ts';

export type Report = (subject: string, check: string, found: unknown, expected: unknown) => void;

/** What is written of a job's overage, refunds and adjustments, as sums of one snapshot. */
export interface CorrectionSums {
  readonly overage_policy: OveragePolicy | null;
  readonly overage_amount: string | null;
  readonly overage_outcome: string | null;
  readonly job_settled: string | null;
  /** Of the entry about the end. */
  readonly reconciled: string | null;
  /** Of the entries of the job's end, by account. */
  readonly end_overage_tenant: string;
  readonly end_overage_gateway: string;
  readonly absorbed: string;
  /** Of all entries on the tenant's account. */
  readonly overage_entries: string;
  readonly released_entries: string;
  readonly invoice_entries: string;
  readonly invoice_rows: string;
  readonly adjustments: number;
  readonly suspensions: string;
  readonly suspensions_wrong: string;
}

/** Of `batch_jobs` j: entries about the job's end carry its submission as ordinal, those of invoices a number of their own. */
export const CORRECTION_SUMS = `
  j.overage_policy, j.overage_amount, j.overage_outcome, j.settled_amount AS job_settled, c.*,
  coalesce((SELECT sum(a.amount) FROM provider_adjustments a WHERE a.job_id = j.job_id), 0) AS invoice_rows,
  (SELECT count(*)::int FROM provider_adjustments a WHERE a.job_id = j.job_id) AS adjustments,
  (SELECT count(*) FROM spending_suspensions s WHERE s.job_id = j.job_id) AS suspensions,
  (SELECT count(*) FROM spending_suspensions s WHERE s.job_id = j.job_id AND s.overage_amount IS DISTINCT FROM j.overage_amount) AS suspensions_wrong`;

export const JOIN_CORRECTIONS = `
  CROSS JOIN LATERAL (
    SELECT sum(e.amount) FILTER (WHERE e.event = ${nameOf('reconciled')}) AS reconciled,
      coalesce(sum(e.amount) FILTER (WHERE ${atTheEnd('overage')} AND e.account = 'tenant'), 0) AS end_overage_tenant,
      coalesce(sum(e.amount) FILTER (WHERE ${atTheEnd('overage')} AND e.account = 'gateway'), 0) AS end_overage_gateway,
      coalesce(sum(e.amount) FILTER (WHERE ${atTheEnd('adjusted')}), 0) AS absorbed,
      coalesce(sum(e.amount) FILTER (WHERE e.event = ${nameOf('overage')} AND e.account = 'tenant'), 0) AS overage_entries,
      coalesce(sum(e.amount) FILTER (WHERE e.event = ${nameOf('released')} AND e.account = 'tenant'), 0) AS released_entries,
      coalesce(sum(e.amount) FILTER (WHERE e.event = ${nameOf('adjusted')} AND NOT ${atTheEnd('adjusted')}), 0) AS invoice_entries
    FROM ledger_entries e
    WHERE e.subject_id = j.job_id AND e.bucket = j.bucket
      AND e.event IN ${namesOf('reconciled', 'overage', 'released', 'adjusted')}
  ) c`;

function atTheEnd(act: LedgerAct): string {
  return `(e.event = ${nameOf(act)} AND e.item_no = 0 AND e.ordinal = j.submission_no)`;
}

/** Overage and release as they are written against what the charge and the policy make of them. */
export function verifyCorrections(
  subject: string,
  job: { readonly state: JobState; readonly reserved: Amount; readonly settled: Amount; readonly released: Amount },
  sums: CorrectionSums,
  report: Report,
): void {
  const compare = (check: string, found: string, expected: Amount): void =>
    report(subject, check, formatAmount(parseNumeric(found)), formatAmount(expected));
  const isEnded = isTerminal(job.state);
  const { over } = splitCharge(notBelowZero(job.reserved), notBelowZero(job.settled));
  compare('overage in ledger entries', sums.overage_entries, isEnded ? over : 0n);
  compare('released in ledger entries', sums.released_entries, isEnded ? job.released : 0n);
  compare('invoice adjustments in ledger entries', sums.invoice_entries, parseNumeric(sums.invoice_rows));
  verifyEnd(subject, job, sums, report);
  report(subject, 'suspensions of another amount than the overage', sums.suspensions_wrong, 0);
  report(subject, 'suspended a scope', Number(sums.suspensions) > 0, sums.overage_outcome === 'suspended');
  if (isEnded) compare('settled amount of the job', sums.job_settled ?? '0', job.settled);
}

/** What the job's end wrote down, from what it then charged: with a cap, what was absorbed came on top. */
function verifyEnd(
  subject: string,
  { reserved }: { readonly reserved: Amount },
  sums: CorrectionSums,
  report: Report,
): void {
  const absorbed = -parseNumeric(sums.absorbed);
  const charged = parseNumeric(sums.reconciled ?? '0') + absorbed;
  const { overage } = judgeOverage(notBelowZero(reserved), notBelowZero(charged), sums.overage_policy ?? 'charge');
  const amount = overage?.amount ?? 0n;
  const isAbsorbed = overage?.outcome === 'absorbed';
  const compare = (check: string, found: string, expected: Amount): void =>
    report(subject, check, formatAmount(parseNumeric(found)), formatAmount(expected));
  compare('overage of the job', sums.overage_amount ?? '0', amount);
  report(subject, 'outcome of the overage', sums.overage_outcome, overage?.outcome ?? null);
  compare('overage charged at the end', sums.end_overage_tenant, isAbsorbed ? 0n : amount);
  compare('overage absorbed at the end', sums.end_overage_gateway, isAbsorbed ? amount : 0n);
  report(subject, 'taken off the charge at the end', formatAmount(absorbed), formatAmount(isAbsorbed ? amount : 0n));
}

/** What was altered by hand may be anything; the other checks say that it is below zero. */
function notBelowZero(amount: Amount): Amount {
  return amount < 0n ? 0n : amount;
}

/** Each refund against its item, and each adjustment against its batch and its entry. */
export async function verifyCorrectionRows(
  db: Pick<pg.Pool, 'query'>,
  job: { readonly kind: JobKind; readonly job_id: string; readonly bucket: number },
  report: Report,
): Promise<void> {
  const subject = jobIdOf({ kind: job.kind, uuid: job.job_id });
  const { rows: refunds } = await db.query(REFUNDS, [job.job_id, job.bucket]);
  for (const row of refunds) {
    const [refunded, charged] = [parseNumeric(row.refunded), parseNumeric(row.charged)];
    const item = `${subject} item ${row.item_no}`;
    report(item, 'refunded against ledger entries', formatAmount(refunded), formatAmount(parseNumeric(row.entries)));
    report(item, 'refunded within the charge', refunded >= 0n && refunded <= charged, true);
  }
  const { rows: adjustments } = await db.query(ADJUSTMENTS, [job.job_id, job.bucket]);
  for (const row of adjustments) {
    const batch = `${subject} shard ${row.shard}.${row.attempt} invoice ${row.invoice}`;
    const found = (amount: string | null): string => (amount === null ? 'none' : formatAmount(parseNumeric(amount)));
    report(batch, 'adjustment against its ledger entry', found(row.entry), found(row.amount));
    report(batch, 'account of the adjustment', row.entry_account, row.account);
    report(batch, 'charged before the adjustment', found(row.charged), found(row.expected_charged));
    report(batch, 'adjustment', found(row.amount), formatAmount(parseNumeric(row.billed) - parseNumeric(row.charged)));
  }
}

const REFUNDS = `
  SELECT coalesce(i.item_no, e.item_no) AS item_no, coalesce(i.refunded_amount, 0) AS refunded, coalesce(i.settled_amount, 0) AS charged,
    coalesce(e.amount, 0) AS entries
  FROM (SELECT item_no, refunded_amount, settled_amount FROM batch_items
    WHERE job_id = $1 AND bucket = $2 AND refunded_amount <> 0) refunded
  FULL JOIN (SELECT item_no, sum(amount) AS amount FROM ledger_entries
    WHERE subject_id = $1 AND bucket = $2 AND event IN ${namesOf('item.refunded')} GROUP BY item_no) e USING (item_no)
  LEFT JOIN batch_items i ON i.job_id = $1 AND i.bucket = $2 AND i.item_no = coalesce(refunded.item_no, e.item_no)
  ORDER BY 1 LIMIT 1000`;

/** What a batch had been charged when an adjustment was posted: its outcomes, and the adjustments before. */
const ADJUSTMENTS = `
  SELECT a.invoice, a.shard, a.attempt, a.amount, a.billed_amount AS billed, a.charged_amount AS charged, a.account,
    e.amount AS entry, e.account AS entry_account, coalesce(o.amount, 0) + coalesce(earlier.amount, 0) AS expected_charged
  FROM provider_adjustments a
  LEFT JOIN ledger_entries e ON e.subject_id = $1 AND e.bucket = $2 AND e.item_no = 0 AND e.event IN ${namesOf('adjusted')} AND e.ordinal = a.ordinal
  CROSS JOIN LATERAL (
    SELECT sum(amount) AS amount FROM item_outcomes
    WHERE job_id = $1 AND bucket = $2 AND shard = a.shard AND attempt = a.attempt
  ) o
  CROSS JOIN LATERAL (
    SELECT sum(b.amount) AS amount FROM provider_adjustments b
    WHERE b.job_id = $1 AND b.provider = a.provider AND b.provider_batch_id = a.provider_batch_id AND b.ordinal < a.ordinal
  ) earlier
  WHERE a.job_id = $1 ORDER BY a.ordinal`;
