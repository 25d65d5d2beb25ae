import type { JobQuote } from '../../contracts/quote.ts';
import { loadAdmissionFacts } from '../../db/admission-facts.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { findSubmission, toStoredQuote, toStoredRejections } from '../../db/submissions.ts';
import { judgeAdmission } from '../../domain/admission.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentQuote } from '../presentation/quote.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';

/** How the job's estimate was made: of its submission, or of the draft as it is now. */
export async function getQuote(
  dependencies: Pick<ApiDependencies, 'db' | 'catalogue' | 'now'>,
  request: JobRequest,
): Promise<JobQuote> {
  const { db, catalogue, now } = dependencies;
  const job = await getOwnedJob(dependencies, request);
  const submission = await findSubmission(db.pool, job, job.submissionNo);
  if (submission?.quote) {
    return {
      job_id: job.jobId,
      basis: 'submission',
      quote: presentQuote(submission.quote, job.currency),
      rejected_targets: [...submission.rejectedTargets],
    };
  }
  const facts = await loadAdmissionFacts(db.pool, await getJobRow(db.pool, job.jobId), now(), catalogue);
  const { quote, targets, rejectedTargets } = judgeAdmission(facts);
  return {
    job_id: job.jobId,
    basis: 'draft',
    quote: quote === null ? null : presentQuote(toStoredQuote(quote, targets), job.currency),
    rejected_targets: toStoredRejections(rejectedTargets),
  };
}
