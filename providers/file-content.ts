import { watchIdle } from './idle-watchdog.ts';
import { malformedReply } from './reply-error.ts';

/** Not JSON Lines, which are a file. */
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
/** A whole error object fits; a reply that is longer is a file. */
const MAX_ERROR_BYTES = 16_384;

/**
 * The bytes of a reply that is a result file. A proxy's page, or an error object under status 200, is not taken for a
 * file of one unreadable line but thrown as `malformed_reply`.
 */
export async function* readFileContent(
  response: Response | null,
  limits: { idleTimeoutMs: number; signal: AbortSignal },
): AsyncGenerator<Uint8Array, void, undefined> {
  if (!response?.body) throw malformedReply(null, 'a file');
  const chunks = watchIdle(response.body, limits);
  const type = response.headers.get('content-type') ?? '';
  try {
    if (type.startsWith('text/html')) throw malformedReply(null, 'a file');
    yield* JSON_TYPE.test(type) ? refuseErrorObject(chunks) : chunks;
  } finally {
    await chunks.return();
  }
}

/** Holds back the first bytes until they can be told from an error object. */
async function* refuseErrorObject(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let isHolding = true;
  for await (const chunk of chunks) {
    if (!isHolding) {
      yield chunk;
      continue;
    }
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes > MAX_ERROR_BYTES) {
      isHolding = false;
      yield* held;
    }
  }
  if (!isHolding) return;
  const reply = parseObject(Buffer.concat(held).toString('utf8'));
  if (isErrorObject(reply)) throw malformedReply(reply, 'a file');
  yield* held;
}

/** Result lines may hold an `error` too, but always name their item, each provider in its own member. */
function isErrorObject(reply: object): boolean {
  if (!('error' in reply) || typeof reply.error !== 'object' || reply.error === null) return false;
  return !['custom_id', 'key', 'metadata'].some((member) => member in reply);
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
