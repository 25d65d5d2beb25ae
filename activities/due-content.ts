import { clearDeletedTemplates, listContentDue } from '../db/content-removal.ts';
import { deleteDueDeliveredContent } from '../db/delivered-content.ts';
import { markContentDeleted } from '../db/job-deletion.ts';
import { dropEmptyMonths } from '../db/old-months.ts';
import { listDueJobs } from '../db/provider-files.ts';
import { deleteEndedRequests, listRequestsDue } from '../db/request-deletion.ts';
import { deleteDueReplies } from '../db/task-replies.ts';
import { deleteCustomerData } from './customer-data.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { deleteDueDocuments } from './due-documents.ts';
import { deleteFiles } from './due-files.ts';
import { runRemovals } from './due-removals.ts';
import { beat } from './heartbeats.ts';
import { deleteStrayUploads } from './stray-uploads.ts';

/** Of one list each; what is left is done by the next round, and at last by the next run. */
const MAX_JOBS = 200;
const MAX_ROUNDS = 25;

type Dependencies = Pick<ActivityDependencies, 'db' | 'providers' | 'artifacts' | 'now' | 'log'>;

/**
 * Deletes what jobs keep no longer: requests whose job has ended without their deletion having come to its end, content whose
 * time is up or that somebody had deleted, and files at the providers; then the partitions of months without any. Each step
 * stands by itself, so that it may be broken off; a provider or a store that is away holds up no other, and nothing that is
 * held is touched. Answers at how many jobs something was done.
 */
export async function deleteDueContent(dependencies: Dependencies): Promise<number> {
  const { db, now, log } = dependencies;
  await deleteCustomerData(dependencies);
  let jobs = 0;
  jobs += await inRounds(
    () => listRequestsDue(db.pool, MAX_JOBS),
    async (key) => {
      await deleteEndedRequests(db.pool, key, now(), beat);
      return true;
    },
  );
  await inRounds(
    () => listContentDue(db.pool, now(), MAX_JOBS),
    (key) => markContentDeleted(db.pool, key, now()),
  );
  jobs += await runRemovals(dependencies, MAX_JOBS);
  jobs += await deleteDueReplies(db.pool, now());
  jobs += await deleteDueDocuments(dependencies);
  jobs += await deleteStrayUploads(dependencies);
  await deleteDueDeliveredContent(db.pool, now());
  for (const job of await listDueJobs(db.pool, now(), MAX_JOBS)) {
    beat();
    if (await deleteFiles(dependencies, job)) jobs += 1;
  }
  await clearDeletedTemplates(db.pool, MAX_JOBS);
  const dropped = await dropMonths(dependencies);
  if (dropped.length > 0) log.info({ dropped }, 'partitions without content dropped');
  // What a customer's deletion waited for may be done now.
  await deleteCustomerData(dependencies);
  return jobs;
}

async function inRounds<Job>(list: () => Promise<Job[]>, act: (job: Job) => Promise<boolean>): Promise<number> {
  let done = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const jobs = await list();
    for (const job of jobs) {
      beat();
      if (await act(job)) done += 1;
    }
    if (jobs.length < MAX_JOBS) break;
  }
  return done;
}

async function dropMonths({ db, now }: Dependencies): Promise<string[]> {
  const client = await db.pool.connect();
  let failure: Error | undefined;
  try {
    return await dropEmptyMonths(client, now());
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    client.release(failure);
  }
}
