import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';
import type { JobKey } from './job-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Files of a job at one provider. */
export interface ProviderHolding {
  readonly provider: Provider;
  /** When the last of them was deleted there; null while one may be left. */
  readonly deletedAt: Date | null;
}

/** The providers that were sent anything of the job, by name. */
export async function listHoldings(db: Queryable, job: JobKey): Promise<ProviderHolding[]> {
  const { rows } = await db.query<ProviderHolding>(
    `SELECT provider, CASE WHEN bool_and(files_deleted_at IS NOT NULL) THEN max(files_deleted_at) END AS "deletedAt"
     FROM batch_provider_metadata
     WHERE job_id = $1 AND (provider_batch_id IS NOT NULL OR input_file_id IS NOT NULL)
     GROUP BY provider ORDER BY provider`,
    [job.uuid],
  );
  return rows;
}

/** How many hashes of the job are kept. */
export async function countHashes(
  db: Queryable,
  job: JobKey & { readonly manifestNo: number },
): Promise<{ readonly requests: number; readonly responses: number }> {
  const { rows } = await db.query<{ requests: number; responses: number }>(
    `SELECT (SELECT count(*)::int FROM batch_items WHERE bucket = $1 AND job_id = $2 AND manifest_no = $3) AS requests,
       (SELECT count(response_hash)::int FROM item_outcomes WHERE bucket = $1 AND job_id = $2) AS responses`,
    [job.bucket, job.uuid, job.manifestNo],
  );
  return rows[0] ?? { requests: 0, responses: 0 };
}
