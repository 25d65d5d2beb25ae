import type { Cipher } from '../encryption/cipher.ts';
import { openStream, sealStream } from '../encryption/sealed-stream.ts';
import type { ArtifactStore } from './store.ts';

/** A store whose files nobody else can read: each is sealed for its key, and opens under no other. */
export function createSealedStore(store: ArtifactStore, cipher: Cipher): ArtifactStore {
  return {
    ...store,
    put: (key, content, signal) => store.put(key, sealStream(cipher, content, contextOf(key)), signal),
    get: async (key, signal) => openStream(cipher, await store.get(key, signal), contextOf(key)),
  };
}

function contextOf(key: string): string {
  return `artifact ${key}`;
}
