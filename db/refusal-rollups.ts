import type pg from 'pg';
import type { JobKey } from './job-rows.ts';

/**
 * Counts a refused submission. Last in the transaction that refuses it: submissions of one tenant that are refused for
 * the same reason wait for each other here, and hold nothing that another wants.
 */
export async function rollUpRefusal(
  client: Pick<pg.ClientBase, 'query'>,
  job: JobKey,
  refusal: { readonly error: string; readonly details_count: number },
): Promise<void> {
  await client.query(
    `INSERT INTO refusal_rollups AS r (tenant_id, day, project_id, customer_id, api_key_id, endpoint, requested_model, code, submissions, items)
     SELECT tenant_id, (now()::timestamptz(3) AT TIME ZONE 'UTC')::date, coalesce(project_id, ''), coalesce(customer_id, ''), api_key_id,
       endpoint, requested_model, $2, 1, $3
     FROM batch_jobs WHERE job_id = $1
     ON CONFLICT (tenant_id, day, project_id, customer_id, api_key_id, endpoint, requested_model, code)
     DO UPDATE SET submissions = r.submissions + 1, items = r.items + excluded.items`,
    [job.uuid, refusal.error, refusal.details_count],
  );
}
