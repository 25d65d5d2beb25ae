import type { CodecPayloads } from '../../contracts/payload-codec.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { SealError } from '../../encryption/cipher.ts';
import { createPayloadCodec, fromText, toText } from '../../encryption/payload-codec.ts';
import type { ApiDependencies } from '../dependencies.ts';

type Dependencies = Pick<ApiDependencies, 'cipher'>;

/** Opens payloads of Temporal for a person; what is not sealed is answered as it is. Throws `invalid_request`. */
export async function decodePayloads({ cipher }: Dependencies, { payloads }: CodecPayloads): Promise<CodecPayloads> {
  const codec = createPayloadCodec(cipher, { encodes: false });
  try {
    return { payloads: (await codec.decode(payloads.map(fromText))).map(toText) };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new GatewayError('invalid_request', `A payload cannot be opened: ${error.message}.`, { field: 'payloads' });
  }
}

/** Seals payloads, also where the gateway itself does not: it reads them all the same. Throws `encryption_not_configured`. */
export async function encodePayloads({ cipher }: Dependencies, { payloads }: CodecPayloads): Promise<CodecPayloads> {
  const codec = createPayloadCodec(cipher, { encodes: true });
  return { payloads: (await codec.encode(payloads.map(fromText))).map(toText) };
}
