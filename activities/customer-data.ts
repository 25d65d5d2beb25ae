import {
  countDraftDeleted,
  type DataDeletion,
  endDataDeletion,
  listDeletable,
  listOpenDeletions,
} from '../db/data-deletions.ts';
import { makeDocumentsDue } from '../db/due-documents.ts';
import { deleteDraftRows, markContentDeleted } from '../db/job-deletion.ts';
import { findHoldOfJob } from '../db/legal-holds.ts';
import { inTransaction } from '../db/transaction.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { beat } from './heartbeats.ts';

const MAX_DELETIONS = 100;
const MAX_JOBS = 200;

type Dependencies = Pick<ActivityDependencies, 'db' | 'now' | 'log'>;

/**
 * Deletes the jobs and documents of customers whose data is to go: drafts at once, ended jobs by marking them, and others once they have
 * ended. One that is held waits for the end of its hold. A deletion ends once nothing of its jobs is left to be removed.
 */
export async function deleteCustomerData(dependencies: Dependencies): Promise<void> {
  const { db, now, log } = dependencies;
  for (const deletion of await listOpenDeletions(db.pool, MAX_DELETIONS)) {
    await deleteJobs(dependencies, deletion);
    await inTransaction(db, (client) => makeDocumentsDue(client, deletion, now()), {
      statementTimeoutMs: 0,
      setWise: true,
    });
    if (!(await endDataDeletion(db.pool, deletion, now()))) continue;
    const { deletionId, tenantId } = deletion;
    log.info({ deletionId, tenantId }, 'the data of a customer is deleted');
  }
}

async function deleteJobs({ db, now }: Dependencies, deletion: DataDeletion): Promise<void> {
  for (;;) {
    const jobs = await listDeletable(db.pool, deletion, MAX_JOBS);
    let done = 0;
    for (const { isDraft, ...job } of jobs) {
      beat();
      const isDone = isDraft
        ? await inTransaction(
            db,
            async (client) => {
              if ((await findHoldOfJob(client, job.uuid)) !== null) return false;
              if (!(await deleteDraftRows(client, job))) return false;
              await countDraftDeleted(client, deletion.deletionId);
              return true;
            },
            { statementTimeoutMs: 0, setWise: true },
          )
        : await markContentDeleted(db.pool, job, now());
      if (isDone) done += 1;
    }
    // Those that were not are no drafts any more: they come again once they have ended.
    if (jobs.length < MAX_JOBS || done === 0) return;
  }
}
