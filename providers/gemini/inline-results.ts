import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { sliceElements, sliceMember } from '../json-member.ts';
import { malformedReply } from '../reply-error.ts';

/** Where an operation carries its results; a finished one repeats them in `response` (Gemini API reference). */
const PLACES = ['response', 'metadata.output'].flatMap((place) =>
  ['inlinedResponses', 'inlinedEmbedContentResponses'].map((kind) => [...place.split('.'), kind, 'inlinedResponses']),
);

/**
 * The results in a batch's own reply as lines of a file: the bytes of each element, line ends between its tokens made
 * spaces. The reply is parsed once, byte by byte as Latin-1 (the structure of JSON is ASCII), so that one result that is
 * not UTF-8 spoils no other. Throws ProviderError `malformed_reply` for a reply that is not this batch with results.
 */
export function* listInlineResults(reply: Buffer, batchName: string): Generator<Uint8Array> {
  const json = reply.toString('latin1');
  const operation = parseOperation(json);
  const place =
    operation?.['name'] === batchName ? PLACES.find((path) => Array.isArray(memberAt(operation, path))) : undefined;
  const list = place === undefined ? null : sliceMember(json, place);
  if (list === null) throw malformedReply(operation, `batch ${batchName} with its results`);
  for (const element of sliceElements(list)) {
    yield Buffer.from(`${element.replace(/[\r\n]/g, ' ')}\n`, 'latin1');
  }
}

function parseOperation(json: string): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(json);
    return isJsonObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

function memberAt(object: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), object);
}
