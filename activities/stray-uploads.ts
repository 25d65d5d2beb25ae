import { ArtifactStoreError } from '../artifacts/store.ts';
import { forgetUpload, takeStrayUploads } from '../db/document-uploads.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { beat } from './heartbeats.ts';

/** Far longer than any upload takes from its note to its row; one that is slower fails, since its note is taken. */
const STRAY_AFTER_MS = 3_600_000;
const MAX_AT_ONCE = 500;

type Dependencies = Pick<ActivityDependencies, 'db' | 'artifacts' | 'now' | 'log'>;

/** Deletes files of uploads that broke off between the artifact store and their row; answers how many. */
export async function deleteStrayUploads({ db, artifacts, now, log }: Dependencies): Promise<number> {
  if (artifacts === null) return 0;
  let deleted = 0;
  const before = new Date(now().getTime() - STRAY_AFTER_MS);
  for (const upload of await takeStrayUploads(db.pool, { before, now: now(), limit: MAX_AT_ONCE })) {
    const { uploadId, artifactKey } = upload;
    beat();
    try {
      await artifacts.delete(artifactKey);
      await forgetUpload(db.pool, uploadId);
      deleted += 1;
    } catch (error) {
      if (!(error instanceof ArtifactStoreError)) throw error;
      log.warn({ uploadId, fault: error.fault }, 'the file of an upload that broke off was not deleted');
    }
  }
  return deleted;
}
