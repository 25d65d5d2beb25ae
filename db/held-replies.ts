import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import type { HeldReplies } from './stored-estimate.ts';
import type { StoredQuote } from './submissions.ts';

/** Null in submissions from before it was kept. */
export type FindHeldReplies = (target: {
  /** Empty for the job's own. */
  readonly requestedModel: string;
  readonly provider: Provider;
}) => HeldReplies | null;

/** What a submission holds, whatever was learned of replies since. */
export async function loadHeldReplies(
  db: Pick<pg.Pool, 'query'>,
  job: { readonly uuid: string; readonly submissionNo: number },
): Promise<FindHeldReplies> {
  const { rows } = await db.query<{ targets: StoredQuote['targets'] | null }>(
    `SELECT quote -> 'targets' AS targets FROM job_submissions WHERE job_id = $1 AND submission_no = $2`,
    [job.uuid, job.submissionNo],
  );
  const targets = rows[0]?.targets ?? [];
  return ({ requestedModel, provider }) =>
    targets.find((each) => each.requested_model === requestedModel && each.provider === provider)
      ?.uncapped_reply_tokens ?? null;
}
