import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export type FetchFault = 'refused_address' | 'refused_scheme' | 'unexpected_status' | 'too_large' | 'unreachable';

/** Why a URL gave nothing. The message names neither its path nor what it answered. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
  readonly fault: FetchFault;

  constructor(fault: FetchFault, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.fault = fault;
  }
}

export interface GuardedFetch {
  readonly url: string;
  /** Hosts whose addresses may be any, and which may be asked without TLS. */
  readonly allowedHosts: ReadonlySet<string>;
  readonly maxBytes: number;
  /** A connection that moves no byte for this long is cut. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
  /** The system's, except in tests. */
  readonly lookup?: typeof systemLookup;
}

export interface Fetched {
  readonly body: AsyncIterable<Buffer>;
  readonly contentEncoding: string | undefined;
}

/**
 * Gets a URL that somebody else has chosen: https alone, no redirect followed, no address that is not public. Addresses are
 * looked at when the connection is made, so that a name cannot come to mean another one in between. Throws FetchError.
 */
export async function guardedFetch(request: GuardedFetch): Promise<Fetched> {
  const url = new URL(request.url);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const isAllowed = request.allowedHosts.has(host);
  if (url.protocol !== 'https:' && !(isAllowed && url.protocol === 'http:'))
    throw new FetchError('refused_scheme', 'The URL is not https.');
  if (!isAllowed && isIP(host) !== 0 && !isPublicAddress(host)) throw refusedAddress();
  const response = await get(url, request, isAllowed);
  if (response.statusCode !== 200) {
    response.destroy();
    throw new FetchError('unexpected_status', `The URL answered with status ${response.statusCode ?? 'none'}.`);
  }
  return { body: bounded(response, request.maxBytes), contentEncoding: response.headers['content-encoding'] };
}

function get(
  url: URL,
  { signal, idleMs, lookup = systemLookup }: GuardedFetch,
  isAllowed: boolean,
): Promise<http.IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const { get: send } = url.protocol === 'https:' ? https : http;
  // An agent of its own: a kept connection was made by some other look at the name.
  const options = { agent: false, signal, timeout: idleMs, headers: { accept: 'application/x-ndjson, */*' } };
  const call = send(url, { ...options, lookup: isAllowed ? lookup : onlyPublic(lookup) }, resolve);
  call.on('timeout', () => call.destroy(new FetchError('unreachable', 'The URL did not answer in time.')));
  call.on('error', (error) => reject(asFetchError(error)));
  return promise;
}

/** One address that is not public spoils the name: which of them is used is not ours to choose. */
function onlyPublic(lookup: typeof systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...(options as LookupOptions), all: true }, (error, addresses: LookupAddress[]) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) {
        callback(error ?? new FetchError('unreachable', 'The name has no address.'), '', 0);
      } else if (!addresses.every(({ address }) => isPublicAddress(address))) {
        callback(refusedAddress(), '', 0);
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

async function* bounded(response: http.IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of response) {
      const piece = chunk as Buffer;
      bytes += piece.length;
      if (bytes > maxBytes) throw new FetchError('too_large', `The URL holds more than ${maxBytes} bytes.`);
      yield piece;
    }
  } catch (error) {
    throw asFetchError(error);
  } finally {
    response.destroy();
  }
}

function refusedAddress(): FetchError {
  return new FetchError('refused_address', 'The URL leads to an address that is not public.');
}

function asFetchError(error: unknown): unknown {
  if (error instanceof FetchError) return error;
  if (error instanceof Error && error.name === 'AbortError') return error;
  return new FetchError('unreachable', 'The URL cannot be reached.', { cause: error });
}
