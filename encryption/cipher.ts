/**
 * Seals bytes so that they may be stored, and opens them again. One with keys of the environment is `key-ring.ts`; a
 * service that keeps the keys to itself is another implementation.
 */
export interface Cipher {
  /** Binds the sealed bytes to `context`, such as a table and the id of a row: they open nowhere else. */
  seal(plain: Uint8Array, context: string): Promise<Buffer>;
  /** Throws SealError for other bytes than were sealed, another context, or a key that is not known. */
  open(sealed: Uint8Array, context: string): Promise<Buffer>;
  /** The id of the key that sealed, which is no secret. Throws SealError for bytes that nothing of ours sealed. */
  keyIdOf(sealed: Uint8Array): string;
  /** The id of the key that seals from now on: what is sealed by another one is due for sealing anew. */
  readonly currentKeyId: string;
}

/** Sealed bytes that cannot be opened. Its message holds no secret. */
export class SealError extends Error {
  override readonly name: string = 'SealError';
}

/** They may be as they were: the key that sealed them is not configured. */
export class UnknownSealingKey extends SealError {
  override readonly name = 'UnknownSealingKey';
}
