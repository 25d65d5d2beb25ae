import type { JobQuote } from '../../contracts/quote.ts';
import { loadAdmissionFacts } from '../../db/admission-facts.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { findSubmission, toStoredQuote, toStoredRejections } from '../../db/submissions.ts';
import { judgeCalibrated } from '../../ledger/calibrate.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';
import { currentPricing, showQuote, submittedPricing } from './show-quote.ts';

/** How the job's estimate was made: of its submission, or of the draft as it is now. */
export async function getQuote(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue' | 'now'>,
  request: JobRequest,
): Promise<JobQuote> {
  const { db, catalogue, now } = dependencies;
  const job = await getOwnedJob(dependencies, request);
  const at = now();
  const submission = await findSubmission(db.pool, job, job.submissionNo);
  if (submission?.quote) {
    return {
      job_id: job.jobId,
      basis: 'submission',
      quote: showQuote(submission.quote, job.currency, await submittedPricing(db, request.principal, job), at),
      rejected_targets: [...submission.rejectedTargets],
    };
  }
  const row = await getJobRow(db.pool, job.jobId);
  const facts = await loadAdmissionFacts(db.pool, row, at, catalogue);
  const pricing = await currentPricing(db, request.principal, job);
  const { quote, targets, rejectedTargets } = await judgeCalibrated(db.pool, row, facts);
  return {
    job_id: job.jobId,
    basis: 'draft',
    quote: quote === null ? null : showQuote(toStoredQuote(quote, targets), job.currency, pricing, at),
    rejected_targets: toStoredRejections(rejectedTargets),
  };
}
