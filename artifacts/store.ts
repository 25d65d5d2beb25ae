/**
 * Files of any size under keys such as `jobs/job_…/1/1/1.jsonl.zst`. A file is there as a whole or not at all, and putting it
 * again takes its place. Keys are segments of letters, digits, `.`, `_` and `-`, parted by `/`; other keys are a fault of
 * the caller.
 */
export interface ArtifactStore {
  /** Reads `content` to its end. Where that throws, or `signal` aborts, nothing is stored. Throws ArtifactStoreError. */
  put(key: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<StoredArtifact>;
  /** Throws ArtifactStoreError, `missing` where there is none, also in the middle of the stream. */
  get(key: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  has(key: string): Promise<boolean>;
  /** One that is not there is no error. */
  delete(key: string): Promise<void>;
  /** Every key that begins with `prefix`, which ends with `/`, in no order. */
  list(prefix: string): AsyncIterable<string>;
}

export interface StoredArtifact {
  /** As they lie in the store. */
  readonly bytes: number;
}

/** `missing`: no such file. `unavailable`: the store could not be asked, or did not do it. */
export type ArtifactFault = 'missing' | 'unavailable';

/** Its message names no key of ours and no secret. */
export class ArtifactStoreError extends Error {
  override readonly name = 'ArtifactStoreError';
  readonly fault: ArtifactFault;

  constructor(fault: ArtifactFault, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.fault = fault;
  }
}

const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const MAX_KEY_LENGTH = 512;

/** Throws for a key that no store takes: one that could leave its folder, above all. */
export function requireKey(key: string): void {
  if (key.length > MAX_KEY_LENGTH || !KEY.test(key)) throw new Error('not a key of an artifact');
}

/** Throws for a prefix that names no folder of keys. */
export function requirePrefix(prefix: string): void {
  if (!prefix.endsWith('/')) throw new Error('a prefix of artifacts ends with a slash');
  requireKey(prefix.slice(0, -1));
}

/** Deletes every file of a folder of keys, and answers how many there were. May be broken off and called again. */
export async function deleteAll(
  store: ArtifactStore,
  prefix: string,
  onStep: () => void = () => undefined,
): Promise<number> {
  let deleted = 0;
  for await (const key of store.list(prefix)) {
    onStep();
    await store.delete(key);
    deleted += 1;
  }
  return deleted;
}
