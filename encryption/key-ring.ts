import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Cipher, SealError, UnknownSealingKey } from './cipher.ts';

/** The only format there is so far; the first byte of everything sealed. */
const FORMAT = 1;
export const KEY_BYTES = 32;
/** What AES-GCM is specified for; NIST SP 800-38D, 8.2. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_ID_BYTES = 255;

/** A key with the name under which it is asked for when something it sealed is opened. */
export interface SealingKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/**
 * AES-256-GCM under named keys: the first seals, all of them open. A new key goes in front of the old ones, and these
 * leave when nothing of theirs is left. Sealed bytes are the format, the key's id with its length, a random nonce, the
 * ciphertext and the tag. Random nonces of 96 bits are good for 2^32 messages a key (SP 800-38D, 8.3).
 */
export function createKeyRing(keys: readonly [SealingKey, ...SealingKey[]]): Cipher {
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  const [current] = keys;
  return {
    currentKeyId: current.id,
    seal: async (plain, context) => seal(current, plain, context),
    open: async (sealed, context) => {
      const parts = take(sealed);
      const key = byId.get(parts.keyId);
      if (key === undefined) throw new UnknownSealingKey(`sealed by the key ${parts.keyId}, which is not configured`);
      return open(key, parts, context);
    },
    keyIdOf: (sealed) => take(sealed).keyId,
  };
}

function seal({ id, key }: SealingKey, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const name = Buffer.from(id);
  if (name.length > MAX_ID_BYTES) throw new Error('the id of a sealing key is too long');
  const header = Buffer.concat([Buffer.of(FORMAT, name.length), name]);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticated(header, context));
  return Buffer.concat([header, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

interface Parts {
  readonly header: Buffer;
  readonly keyId: string;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
  readonly tag: Buffer;
}

function take(sealed: Uint8Array): Parts {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const [format, idLength = 0] = bytes;
  const headerEnd = 2 + idLength;
  const nonceEnd = headerEnd + NONCE_BYTES;
  const tagStart = bytes.length - TAG_BYTES;
  if (format !== FORMAT || tagStart < nonceEnd) throw new SealError('not sealed in a known format');
  return {
    header: bytes.subarray(0, headerEnd),
    keyId: bytes.toString('utf8', 2, headerEnd),
    nonce: bytes.subarray(headerEnd, nonceEnd),
    ciphertext: bytes.subarray(nonceEnd, tagStart),
    tag: bytes.subarray(tagStart),
  };
}

function open(key: Uint8Array, { header, nonce, ciphertext, tag }: Parts, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(authenticated(header, context));
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch (error) {
    throw new SealError('the sealed bytes, or what they were sealed for, are not what they were', { cause: error });
  }
}

function authenticated(header: Buffer, context: string): Buffer {
  return Buffer.concat([header, Buffer.from(context)]);
}
