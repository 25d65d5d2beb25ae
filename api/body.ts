import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { ApiContext } from './env.ts';

/** The request's body as it arrives, straight from the socket where there is one. */
export function bodyStream(c: ApiContext): Readable {
  if (c.env?.incoming !== undefined) return c.env.incoming;
  const { body } = c.req.raw;
  return body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream<Uint8Array>);
}
