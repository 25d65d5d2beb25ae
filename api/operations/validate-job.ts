import type { Validation } from '../../contracts/validation.ts';
import { loadAdmissionFacts } from '../../db/admission-facts.ts';
import { listFindingDetails } from '../../db/finding-details.ts';
import { getJobRow, type JobRow } from '../../db/job-rows.ts';
import { toStoredQuote, toStoredRejections } from '../../db/submissions.ts';
import type { Finding, Verdict } from '../../domain/admission.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { formatAmount } from '../../domain/money.ts';
import { judgeCalibrated } from '../../ledger/calibrate.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentDetail } from '../presentation/refusal.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';
import { currentPricing, showQuote } from './show-quote.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'catalogue' | 'now'>;

/** What a submit of the draft would find now. Changes and holds nothing. Throws `job_not_draft`. */
export async function validateJob(dependencies: Dependencies, request: JobRequest): Promise<Validation> {
  const { state, jobId } = await getOwnedJob(dependencies, request);
  if (state !== 'draft') throw new GatewayError('job_not_draft', `The job is ${state}; only a draft can be validated.`);
  const { db, catalogue, now } = dependencies;
  const job = await getJobRow(db.pool, jobId);
  const at = now();
  const verdict = await judgeCalibrated(db.pool, job, await loadAdmissionFacts(db.pool, job, at, catalogue));
  const pricing = await currentPricing(db, request.principal, job);
  const isLate = job.deadline !== null && job.deadline <= at;
  const findings = [...(job.itemCount === 0 ? [EMPTY] : []), ...(isLate ? [LATE] : []), ...verdict.findings];
  return {
    ok: findings.length === 0,
    findings: await Promise.all(findings.map((finding) => presentFinding(dependencies, job, finding))),
    target: verdict.target,
    rejected_targets: toStoredRejections(verdict.rejectedTargets),
    estimate:
      verdict.quote === null
        ? null
        : showQuote(toStoredQuote(verdict.quote, verdict.targets), job.currency, pricing, at),
    // Budgets are in the tenant's prices.
    budgets: pricing === null ? presentBudgets(job, verdict) : [],
  };
}

const EMPTY: Finding = {
  error: 'empty_job',
  message: 'The job has no items. Append items before you submit it.',
  field: 'items',
  items: 0,
  rows: null,
};

const LATE: Finding = {
  error: 'deadline_passed',
  message: 'The deadline of the job has passed. Make a new one with a later deadline.',
  field: 'execution.deadline',
  items: 0,
  rows: null,
};

async function presentFinding(
  { db }: Dependencies,
  job: JobRow,
  finding: Finding,
): Promise<Validation['findings'][number]> {
  const { error, message, field, items } = finding;
  const details = await listFindingDetails(db.pool, job, finding);
  return { error, message, field, items, details: details.map(presentDetail) };
}

function presentBudgets({ currency }: JobRow, { budgets }: Verdict): Validation['budgets'] {
  return budgets.map(({ budget, limit, available, fits }) => ({
    scope: budget.scope,
    scope_id: budget.scopeId,
    period: budget.period,
    limit: formatAmount(limit),
    available: formatAmount(available),
    fits,
    currency,
  }));
}
