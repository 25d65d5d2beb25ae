import type { Payload, PayloadCodec } from '@temporalio/common';
import type { Cipher } from './cipher.ts';

/** What Temporal's own examples call it, so that its tools say that the payload is encrypted. */
const ENCODING = 'binary/encrypted';
const CONTEXT = 'temporal/payload';

/**
 * Seals what Temporal keeps of workflows: inputs, results, signals, memos and summaries. What is not sealed is read as it is,
 * so it may be switched on and off while workflows run; with `encodes: false` it only opens.
 */
export function createPayloadCodec(cipher: Cipher, { encodes }: { readonly encodes: boolean }): PayloadCodec {
  return {
    encode: async (payloads) => (encodes ? Promise.all(payloads.map((payload) => seal(cipher, payload))) : payloads),
    decode: (payloads) => Promise.all(payloads.map((payload) => open(cipher, payload))),
  };
}

/** A payload in Temporal's JSON form: bytes are base64. */
interface PayloadText {
  readonly metadata: { readonly [name: string]: string };
  readonly data: string;
}

async function seal(cipher: Cipher, payload: Payload): Promise<Payload> {
  if (isSealed(payload)) return payload;
  const sealed = await cipher.seal(Buffer.from(JSON.stringify(toText(payload))), CONTEXT);
  const metadata = { encoding: Buffer.from(ENCODING), 'encryption-key-id': Buffer.from(cipher.keyIdOf(sealed)) };
  return { metadata, data: sealed };
}

/** Throws SealError for one that another gateway, or a key that is gone, sealed. */
async function open(cipher: Cipher, payload: Payload): Promise<Payload> {
  if (!isSealed(payload)) return payload;
  const text = await cipher.open(payload.data ?? Buffer.of(), CONTEXT);
  return fromText(JSON.parse(text.toString()));
}

function isSealed({ metadata }: Payload): boolean {
  const encoding = metadata?.['encoding'];
  return encoding != null && Buffer.from(encoding).toString() === ENCODING;
}

/** Absent bytes and none are the same to Temporal. */
export function toText({ metadata, data }: Payload): PayloadText {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]);
  return { metadata: Object.fromEntries(entries), data: base64(data ?? Buffer.of()) };
}

export function fromText({ metadata, data }: PayloadText): Payload {
  const entries = Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]);
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data, 'base64') };
}

/** Of an empty field the SDK's decoder makes a plain array. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
