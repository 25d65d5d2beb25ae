import { type ArtifactStore, ArtifactStoreError, deleteAll } from '../artifacts/store.ts';
import { artifactPrefix, hasArtifacts, recordArtifactsDeleted } from '../db/artifacts.ts';
import { endRemoval, listRemovals, postponeRemoval, type Removal } from '../db/content-removal.ts';
import { deleteContent } from '../db/job-deletion.ts';
import { findHoldOfJob } from '../db/legal-holds.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { beat } from './heartbeats.ts';
import { raiseOverdue } from './overdue-deletion.ts';

const MAX_ROUNDS = 25;
/** A store that is away is asked again after it. */
const POSTPONE_MS = 3_600_000;

type Dependencies = Pick<ActivityDependencies, 'db' | 'artifacts' | 'now' | 'log'>;

/** Removes the content of jobs that is said to be deleted. What fails is tried again later. Answers of how many it is gone. */
export async function runRemovals(dependencies: Dependencies, atOnce: number): Promise<number> {
  const { db, now } = dependencies;
  let done = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const removals = await listRemovals(db.pool, now(), atOnce);
    for (const removal of removals) {
      beat();
      if (await remove(dependencies, removal)) done += 1;
    }
    if (removals.length < atOnce) break;
  }
  return done;
}

async function remove(dependencies: Dependencies, removal: Removal): Promise<boolean> {
  const { db, artifacts, now, log } = dependencies;
  const { key, jobId } = removal;
  // The list was read a while ago.
  if ((await findHoldOfJob(db.pool, key.uuid)) !== null) return false;
  await deleteContent(db, key);
  try {
    // By what the store has, not by rows: a crash may have left a file that no row knows.
    if (removal.storage === 'raw') await removeArtifacts(dependencies, artifacts, removal);
  } catch (error) {
    if (!(error instanceof ArtifactStoreError)) throw error;
    log.warn({ jobId, fault: error.fault }, 'artifacts were not deleted');
    const failures = await postponeRemoval(db.pool, key, new Date(now().getTime() + POSTPONE_MS));
    await raiseOverdue(dependencies, { ...removal, what: 'artifacts', failures });
    return false;
  }
  await endRemoval(db.pool, key);
  return true;
}

async function removeArtifacts(
  { db, now }: Dependencies,
  artifacts: ArtifactStore | null,
  { key, jobId }: Removal,
): Promise<void> {
  if (artifacts !== null) await deleteAll(artifacts, artifactPrefix(jobId), beat);
  else if (await hasArtifacts(db.pool, key)) throw new ArtifactStoreError('unavailable', 'there is no artifact store');
  await recordArtifactsDeleted(db.pool, key, now());
}
