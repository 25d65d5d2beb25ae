import type { IncomingMessage } from 'node:http';
import { type GuardedRequest, guardedRequest, OutgoingError, toOutgoingError } from './guarded-request.ts';

export type GuardedFetch = Omit<GuardedRequest, 'method' | 'headers' | 'body'> & { readonly maxBytes: number };

export interface Fetched {
  readonly body: AsyncIterable<Buffer>;
  readonly contentEncoding: string | undefined;
}

/** Gets NDJSON from a URL that somebody else has chosen. Throws OutgoingError, also while the body is read. */
export async function guardedFetch({ maxBytes, ...request }: GuardedFetch): Promise<Fetched> {
  const response = await guardedRequest({
    ...request,
    method: 'GET',
    headers: { accept: 'application/x-ndjson, */*' },
  });
  if (response.statusCode !== 200) {
    response.destroy();
    throw new OutgoingError('unexpected_status', `The URL answered with status ${response.statusCode ?? 'none'}.`);
  }
  return {
    body: bounded(response, maxBytes, request.signal),
    contentEncoding: response.headers['content-encoding'],
  };
}

async function* bounded(response: IncomingMessage, maxBytes: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of response) {
      const piece = chunk as Buffer;
      bytes += piece.length;
      if (bytes > maxBytes) throw new OutgoingError('too_large', `The URL holds more than ${maxBytes} bytes.`);
      yield piece;
    }
  } catch (error) {
    throw toOutgoingError(error, signal);
  } finally {
    response.destroy();
  }
}
