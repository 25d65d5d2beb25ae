import { fileURLToPath } from 'node:url';
import type { Cipher } from '../encryption/cipher.ts';
import { createFolderStore } from './folder-store.ts';
import { createS3Store } from './s3-store.ts';
import { createSealedStore } from './sealed-store.ts';
import type { ArtifactStore } from './store.ts';

/** Where artifacts are kept, as the environment says it. */
export interface ArtifactSettings {
  /** `file:///folder` or `s3://bucket/prefix`. */
  readonly url: string;
  readonly s3: { readonly endpoint: string | null; readonly region: string | null; readonly usesPathStyle: boolean };
  readonly isEncrypted: boolean;
}

/** Null where none is set: then no artifacts are kept. Connects to nothing yet. */
export function createArtifactStore(settings: ArtifactSettings | null, cipher: Cipher): ArtifactStore | null {
  if (settings === null) return null;
  const url = new URL(settings.url);
  const store =
    url.protocol === 's3:'
      ? createS3Store({ bucket: url.hostname, prefix: trimSlashes(url.pathname), ...settings.s3 })
      : createFolderStore(fileURLToPath(url));
  return settings.isEncrypted ? createSealedStore(store, cipher) : store;
}

function trimSlashes(pathname: string): string {
  return pathname.replace(/^\/+|\/+$/g, '');
}
