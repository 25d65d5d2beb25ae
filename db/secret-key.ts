import { createHash, randomBytes } from 'node:crypto';
import type { Role } from '../domain/principal.ts';

const SECRET_BYTES = 32;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is the first power to hold 256 bits. */
const SECRET_LENGTH = 43;
/** Enough of the secret to tell keys apart in a list, far too little to guess the rest. */
const SHOWN_SECRET_LENGTH = 4;

/** The word in a key that tells what it is for. */
const KIND_OF: { readonly [role in Role]: string } = {
  tenant_admin: 'tenant',
  project: 'project',
  customer: 'customer',
  operator: 'operator',
  gateway_admin: 'admin',
};
const KEY = /^bg_[a-z]{1,16}_[0-9A-Za-z]{43}$/;

/** A new key such as `bg_tenant_…` with 256 random bits, and its beginning, which may be shown. */
export function generateKey(role: Role): { key: string; prefix: string } {
  const kind = `bg_${KIND_OF[role]}_`;
  const secret = base62(randomBytes(SECRET_BYTES));
  return { key: kind + secret, prefix: kind + secret.slice(0, SHOWN_SECRET_LENGTH) };
}

export function isKey(text: string): boolean {
  return KEY.test(text);
}

/** SHA-256, what is stored of a key. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Letters and digits only, so that a key is one word to double-click, in a URL and in a shell. */
function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (text.length < SECRET_LENGTH) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}
