/** Names one attempt at one shard, in the batch's label and in every item id sent with it. */
export type AttemptToken = string;

/** Bytes of randomness (or of a time-ordered id) in a token. */
export const ATTEMPT_TOKEN_BYTES = 16;
/** Crockford's base32 in lower case: safe in every provider's ids, and free of the separator. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TOKEN_LENGTH = Math.ceil((ATTEMPT_TOKEN_BYTES * 8) / 5);
const TOKEN = new RegExp(`^[${ALPHABET}]{${TOKEN_LENGTH}}$`);
const PROVIDER_ITEM_ID = new RegExp(`^([${ALPHABET}]{${TOKEN_LENGTH}})-([1-9][0-9]{0,9})$`);

export interface ProviderItemId {
  readonly token: AttemptToken;
  readonly itemNo: number;
}

/** A token from 16 bytes made outside. Throws RangeError for any other number. */
export function encodeAttemptToken(bytes: Uint8Array): AttemptToken {
  if (bytes.length !== ATTEMPT_TOKEN_BYTES) throw new RangeError(`a token is made of ${ATTEMPT_TOKEN_BYTES} bytes`);
  let value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let token = '';
  for (let index = 0; index < TOKEN_LENGTH; index += 1) {
    token = `${ALPHABET[Number(value % 32n)]}${token}`;
    value /= 32n;
  }
  return token;
}

export function isAttemptToken(value: string): boolean {
  return TOKEN.test(value);
}

/**
 * The id a provider sees for an item: `{token}-{item_no}`, within Anthropic's 64 characters of `[A-Za-z0-9_-]`, the
 * tightest rule. Throws RangeError for a malformed token or an item number below 1.
 */
export function encodeProviderItemId(token: AttemptToken, itemNo: number): string {
  if (!isAttemptToken(token)) throw new RangeError('not an attempt token');
  if (!Number.isSafeInteger(itemNo) || itemNo < 1) throw new RangeError('an item number is a whole number from 1');
  return `${token}-${itemNo}`;
}

/** Null for an id that is not one of ours; whether the token is of the batch being read is for the caller to check. */
export function decodeProviderItemId(id: unknown): ProviderItemId | null {
  const match = typeof id === 'string' ? PROVIDER_ITEM_ID.exec(id) : null;
  const [, token, itemNo] = match ?? [];
  return token === undefined || itemNo === undefined ? null : { token, itemNo: Number(itemNo) };
}
