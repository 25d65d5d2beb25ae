import type pg from 'pg';
import type { JobRow } from '../db/job-rows.ts';
import type { FailureCode } from '../domain/failure.ts';
import { announce } from './announce.ts';
import type { SettledGroup } from './settled-counts.ts';

const CODE: FailureCode = 'safety_blocked';
/** Enough to look at; the rest are among the job's results. */
const MAX_NAMED_ITEMS = 100;

/**
 * Announces the items of one settlement that were blocked for safety, which wait for a person: one event, with how many
 * they are and the first hundred custom ids. The last step of the settlement's transaction; `afterSeq` is where it began.
 */
export async function tellSafetyBlocked(
  client: pg.PoolClient,
  job: JobRow,
  afterSeq: number,
  groups: readonly SettledGroup[],
): Promise<void> {
  const items = groups.filter((group) => group.error_code === CODE).reduce((sum, group) => sum + group.items, 0);
  if (items === 0) return;
  const { rows } = await client.query<{ custom_id: string }>(
    `SELECT custom_id FROM batch_items
     WHERE bucket = $1 AND job_id = $2 AND item_no = ANY (ARRAY(
       SELECT item_no FROM item_outcomes WHERE bucket = $1 AND job_id = $2 AND seq > $3 AND error_code = $4 ORDER BY seq LIMIT $5))
     ORDER BY item_no`,
    [job.key.bucket, job.key.uuid, afterSeq, CODE, MAX_NAMED_ITEMS],
  );
  await announce(client, job, 'item_safety_blocked', { items, custom_ids: rows.map((row) => row.custom_id) });
}
