import type pg from 'pg';
import { type ItemState, itemStateFromCode } from '../domain/item-state.ts';
import type { JobKey } from './job-rows.ts';

/** How an item ended. */
export interface OutcomeCode {
  readonly state: ItemState;
  /** Empty for a completed item. */
  readonly errorCode: string;
}

/** The ends of some items of a job, by item number; those that have not ended are left out. */
export async function readOutcomeCodes(
  db: Pick<pg.Pool, 'query'>,
  job: JobKey,
  itemNos: readonly number[],
): Promise<ReadonlyMap<number, OutcomeCode>> {
  const { rows } = await db.query<{ item_no: number; state: number; error_code: string }>(
    `SELECT item_no, state, error_code FROM item_outcomes
     WHERE job_id = $1 AND bucket = $2 AND item_no = ANY($3)`,
    [job.uuid, job.bucket, itemNos],
  );
  return new Map(
    rows.map(({ item_no, state, error_code }) => [item_no, { state: itemStateFromCode(state), errorCode: error_code }]),
  );
}
