import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import type { JobKey } from './job-rows.ts';

/** Days for which a provider keeps results; see the batch guides of OpenAI (30 days) and Anthropic (29 days). */
const RESULT_DAYS: { readonly [provider in Provider]: number } = { openai: 30, anthropic: 29, gemini: 2 };
const WINDOW_MS = 24 * 3_600_000;
const DAY_MS = 24 * 3_600_000;

/** `expires_at` is the latest window end of the job's batches, `retrieval_deadline` the earliest day results are gone. */
export async function recordProviderWindow(
  client: Pick<pg.PoolClient, 'query'>,
  job: JobKey,
  accepted: { provider: Provider; expiresAt: Date | null; acceptedAt: Date },
): Promise<void> {
  const expiresAt = accepted.expiresAt ?? new Date(accepted.acceptedAt.getTime() + WINDOW_MS);
  const retrievalDeadline = new Date(accepted.acceptedAt.getTime() + RESULT_DAYS[accepted.provider] * DAY_MS);
  await client.query(
    `UPDATE batch_jobs SET expires_at = greatest(expires_at, $2), retrieval_deadline = least(retrieval_deadline, $3) WHERE job_id = $1`,
    [job.uuid, expiresAt, retrievalDeadline],
  );
}
