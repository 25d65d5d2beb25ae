import { jobIdOf } from '../db/ids.ts';
import { nameOf } from '../db/ledger-names.ts';
import type { JobKind } from '../domain/job-kind.ts';
import { isTerminal, type JobState } from '../domain/job-state.ts';
import { lawHolds } from '../domain/ledger-entry.ts';
import { formatAmount, parseNumeric } from '../domain/money.ts';
import type { PriceMode } from '../domain/pricing.ts';
import {
  CORRECTION_SUMS,
  type CorrectionSums,
  JOIN_CORRECTIONS,
  type Report,
  verifyCorrections,
} from './verify-corrections.ts';

/** What the rows of a job come to, in one snapshot. */
export interface JobSums extends CorrectionSums {
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
 * Reads a row for each of the `batch_jobs` j that a condition names: all sums of one snapshot, so that a settlement in between cannot
 * look like a difference.
 */
export function selectJobSums(condition: string): string {
  return `
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
     WHERE ${condition}`;
}

/** Counts, sums, the law and what is written of corrections. */
export function verifyJobSums(sums: JobSums, report: Report): void {
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
