import { keepsContent } from '../domain/storage-terms.ts';
import type { StoragePolicy } from '../domain/tenant-policy.ts';
import type { Cipher } from '../encryption/cipher.ts';
import { createSealedStore } from './sealed-store.ts';
import type { ArtifactStore } from './store.ts';

/** The store as the files of documents of a storage policy lie in it: sealed where that keeps no content. */
export function documentFiles(store: ArtifactStore, cipher: Cipher, storage: StoragePolicy): ArtifactStore {
  return keepsContent(storage) ? store : createSealedStore(store, cipher);
}
