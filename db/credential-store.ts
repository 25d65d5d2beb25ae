import type pg from 'pg';
import { credentialContext, readSealedKey, type SealedKey } from './provider-credentials.ts';
import { GATEWAY_SCOPE, inScope } from './row-scope.ts';

/** Reads stored keys for those who speak to providers, on whomever's behalf: no tenant can; `cipher` opens them. */
export function createCredentialStore(
  db: Pick<pg.ClientBase, 'query'>,
  cipher: { open(sealed: Uint8Array, context: string): Promise<Uint8Array> },
): {
  read(credentialId: string): Promise<SealedKey | null>;
  open(sealed: Uint8Array, credentialId: string): Promise<Uint8Array>;
} {
  return {
    read: (credentialId) => inScope(GATEWAY_SCOPE, () => readSealedKey(db, credentialId, new Date())),
    open: (sealed, credentialId) => cipher.open(sealed, credentialContext(credentialId)),
  };
}
