import { createPrivateKey, createPublicKey, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const KEY_ID = 'simulated-webhook-key';

/** Signs JSON Web Tokens with RS256. */
export interface TokenSigner {
  /** The public key, as `/.well-known/jwks.json` gives it. */
  keySet(): { keys: object[] };
  /** A forged token names the right key but is signed with another. */
  sign(claims: object, isForged: boolean): string;
}

/** The key is made when it is first needed and then kept at `path`, so that it outlives a restart. */
export function createTokenSigner(path: string): TokenSigner {
  let kept: KeyObject | undefined;
  const ownKey = () => {
    kept ??= existsSync(path) ? createPrivateKey(readFileSync(path)) : newKey();
    writeFileSync(path, kept.export({ type: 'pkcs8', format: 'pem' }));
    return kept;
  };
  return {
    keySet() {
      const { kty, n, e } = createPublicKey(ownKey()).export({ format: 'jwk' });
      return { keys: [{ kty, n, e, kid: KEY_ID, use: 'sig', alg: 'RS256' }] };
    },
    sign(claims, isForged) {
      const signed = [{ alg: 'RS256', typ: 'JWT', kid: KEY_ID }, claims].map(encoded).join('.');
      const signature = createSign('RSA-SHA256')
        .update(signed)
        .sign(isForged ? newKey() : ownKey());
      return `${signed}.${signature.toString('base64url')}`;
    },
  };
}

function newKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
