import type pg from 'pg';
import type { ReservedTerms } from '../domain/retry-wave.ts';
import { loadItemGroups } from './admission-facts.ts';
import type { JobRow } from './job-rows.ts';
import { fromStoredCalibration } from './stored-estimate.ts';
import { findSubmission } from './submissions.ts';
import { loadTargetPrices } from './target-prices.ts';

/** The terms the job's submission was accepted at. Throws for a job that was not. */
export async function loadReservedTerms(db: Pick<pg.Pool, 'query'>, job: JobRow): Promise<ReservedTerms> {
  const submission = await findSubmission(db, job.key, job.submissionNo);
  if (submission?.quote == null) throw new Error(`submission ${job.submissionNo} of ${job.jobId} was not accepted`);
  const { quote } = submission;
  const findPrice = await loadTargetPrices(db, { ...job, uuid: job.key.uuid });
  const targets = quote.targets.map(({ requested_model: requestedModel, provider, model }) => {
    const { price, heldReplies } = findPrice({ requestedModel, provider, providerModel: model });
    const held = (tokens: number) => ({ tokens, method: 'default' as const, knownReplies: 0 });
    const replies = { plain: held(heldReplies.plain), reasoning: held(heldReplies.reasoning) };
    return [requestedModel, { target: { provider, model }, price, replies }] as const;
  });
  return {
    groups: await loadItemGroups(db, job),
    calibration: fromStoredCalibration(quote.calibration ?? null),
    margin: quote.margin,
    targets: new Map(targets),
  };
}
