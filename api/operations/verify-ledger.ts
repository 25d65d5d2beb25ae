import type { LedgerVerification } from '../../contracts/operator-job.ts';
import { findJobRow } from '../../db/job-rows.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { noSuchJob } from './owned-job.ts';

/** Recomputes the money of one job of any kind, or of all, from its items and prices. Changes nothing. */
export async function verifyOneOrAll(
  { db }: Pick<ApiDependencies, 'db'>,
  jobId: string | undefined,
): Promise<LedgerVerification> {
  if (jobId !== undefined && (await findJobRow(db.pool, jobId)) === null) throw noSuchJob();
  const { jobs, items, differences } = await verifyLedger(db, jobId === undefined ? {} : { jobId });
  return { ok: differences.length === 0, jobs, items, differences: [...differences] };
}
