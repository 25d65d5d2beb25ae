import { fileURLToPath } from 'node:url';
import type { Cipher } from '../encryption/cipher.ts';
import { createFolderStore } from './folder-store.ts';
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
export async function createArtifactStore(
  settings: ArtifactSettings | null,
  cipher: Cipher,
): Promise<ArtifactStore | null> {
  if (settings === null) return null;
  const store = await openStore(settings);
  return settings.isEncrypted ? createSealedStore(store, cipher) : store;
}

/** The SDK of S3 is loaded by those who use it: it takes some 20 MB. */
async function openStore({ url: text, s3 }: ArtifactSettings): Promise<ArtifactStore> {
  const url = new URL(text);
  if (url.protocol !== 's3:') return createFolderStore(fileURLToPath(url));
  const { createS3Store } = await import('./s3-store.ts');
  return createS3Store({ bucket: url.hostname, prefix: trimSlashes(url.pathname), ...s3 });
}

function trimSlashes(pathname: string): string {
  return pathname.replace(/^\/+|\/+$/g, '');
}
