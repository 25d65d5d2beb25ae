import type { LedgerVerification } from '../../contracts/operator-job.ts';
import { findJob } from '../../db/jobs.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { noSuchJob } from './owned-job.ts';

/** Recomputes the money of one job, or of all, from its items and prices. Changes nothing. */
export async function verifyOneOrAll(
  { db }: Pick<ApiDependencies, 'db'>,
  jobId: string | undefined,
): Promise<LedgerVerification> {
  if (jobId !== undefined && (await findJob(db.pool, null, jobId)) === null) throw noSuchJob();
  const { jobs, items, differences } = await verifyLedger(db, jobId === undefined ? {} : { jobId });
  return { ok: differences.length === 0, jobs, items, differences: [...differences] };
}
