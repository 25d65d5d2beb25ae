import { decodeProviderItemId } from '../../domain/attempt-token.ts';
import { splitLines } from '../jsonl.ts';
import { decodeLine } from './decode.ts';

/** More than one, for lines may be garbled; few, for each is paid for in bytes. */
const MAX_LINES = 10;
/** Enough to find the id at the beginning of a line, whatever follows. */
const MAX_LINE_BYTES = 64 * 1024;

/** Whose results these are: of the attempt, of somebody else, or nothing to tell by. */
export type AttemptProof = 'own' | 'foreign' | 'unknown';

/** Anthropic carries no label, but every result names its item, and that name holds the token of its attempt. */
export async function proveAttempt(results: AsyncIterable<Uint8Array>, attemptToken: string): Promise<AttemptProof> {
  let proof: AttemptProof = 'unknown';
  let lines = 0;
  for await (const { bytes } of splitLines(results, { maxLineBytes: MAX_LINE_BYTES })) {
    lines += 1;
    // Cut or not UTF-8: the id can be read all the same.
    const { providerItemId } = decodeLine('messages', bytes.toString('utf8'));
    if (providerItemId !== null) {
      if (decodeProviderItemId(providerItemId)?.token === attemptToken) return 'own';
      proof = 'foreign';
    }
    if (lines === MAX_LINES) break;
  }
  return proof;
}
