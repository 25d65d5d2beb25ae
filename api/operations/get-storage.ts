import type { JobStorage } from '../../contracts/job-storage.ts';
import { countHashes, listHoldings } from '../../db/storage-view.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentStorage } from '../presentation/job-storage.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';

/** What is kept of a job where, and until when. */
export async function getStorage(dependencies: Pick<ApiDependencies, 'db'>, request: JobRequest): Promise<JobStorage> {
  const job = await getOwnedJob(dependencies, request);
  const { pool } = dependencies.db;
  return presentStorage(job, { holdings: await listHoldings(pool, job), hashes: await countHashes(pool, job) });
}
