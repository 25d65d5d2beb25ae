import { ProviderError } from './provider-error.ts';
import { readSafeText } from './safe-text.ts';

const MAX_CAUSES = 8;
const MAX_MESSAGE_LENGTH = 2000;
/** Raised while connecting (Node's `syscall` on the error), so no byte of a request was sent. */
const CONNECTING = new Set(['connect', 'getaddrinfo']);
const TIMEOUT_CODES = new Set(['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/**
 * A failure below HTTP as a ProviderError: what `fetch` or reading a body threw. Where nothing proves that the request
 * never left, the provider may have acted.
 */
export function toNetworkError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const causes = listCauses(error);
  const facts = { message: describe(causes), isRetryable: true, mayHaveActed: true, cause: error };
  if (causes.some((cause) => CONNECTING.has(readText(cause, 'syscall')))) {
    return new ProviderError({ ...facts, code: 'unavailable', mayHaveActed: false });
  }
  if (causes.some((cause) => TIMEOUT_CODES.has(readText(cause, 'code')))) {
    return new ProviderError({ ...facts, code: 'timed_out' });
  }
  // A body that is not the JSON its headers promised.
  if (causes.some((cause) => cause instanceof SyntaxError)) {
    return new ProviderError({ ...facts, code: 'malformed_reply' });
  }
  return new ProviderError({ ...facts, code: 'connection_lost' });
}

/** The error, its causes, and the parts of an AggregateError (one per address tried). */
function listCauses(error: unknown): unknown[] {
  const found: unknown[] = [];
  const waiting = [error];
  while (waiting.length > 0 && found.length < MAX_CAUSES) {
    const next = waiting.shift();
    found.push(next);
    if (next instanceof AggregateError) waiting.push(...next.errors);
    if (next instanceof Error && next.cause !== undefined) waiting.push(next.cause);
  }
  return found;
}

function describe(causes: readonly unknown[]): string {
  const messages = causes.map((cause) => (cause instanceof Error ? cause.message : '')).filter((text) => text !== '');
  // What failed to parse is quoted in the message, so it may hold anything.
  return readSafeText([...new Set(messages)].join(': '), MAX_MESSAGE_LENGTH) ?? 'the connection failed';
}

function readText(value: unknown, key: 'code' | 'syscall'): string {
  if (typeof value !== 'object' || value === null) return '';
  const text = (value as Record<string, unknown>)[key];
  return typeof text === 'string' ? text : '';
}
