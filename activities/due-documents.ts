import { ArtifactStoreError } from '../artifacts/store.ts';
import { listRemovedDocuments, noteFileRemoved, removeDueDocuments } from '../db/due-documents.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { beat } from './heartbeats.ts';

const MAX_AT_ONCE = 500;
const MAX_ROUNDS = 20;

type Dependencies = Pick<ActivityDependencies, 'db' | 'artifacts' | 'now' | 'log'>;

/**
 * Deletes the content of documents whose time is up: first it cannot be read any more, then its file goes. A store that is
 * away is asked again by the next run. Answers of how many documents the content was deleted.
 */
export async function deleteDueDocuments({ db, artifacts, now, log }: Dependencies): Promise<number> {
  let deleted = 0;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    beat();
    const removed = await removeDueDocuments(db.pool, now(), MAX_AT_ONCE);
    deleted += removed;
    if (removed < MAX_AT_ONCE) break;
  }
  if (artifacts === null) return deleted;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const documents = await listRemovedDocuments(db.pool, MAX_AT_ONCE);
    for (const { documentId, artifactKey } of documents) {
      beat();
      try {
        await artifacts.delete(artifactKey);
      } catch (error) {
        if (!(error instanceof ArtifactStoreError)) throw error;
        log.warn({ documentId, fault: error.fault }, 'the file of a document was not deleted');
        return deleted;
      }
      await noteFileRemoved(db.pool, documentId);
    }
    if (documents.length < MAX_AT_ONCE) break;
  }
  return deleted;
}
