import { lookup as systemLookup } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { assignedOnly, guardedAgent, isRefusal, isUnassigned, type Lookup } from './addresses.ts';
import { hostOf, isAllowedHost, judgeUrl } from './url-fault.ts';

export type OutgoingFault =
  | 'refused_address'
  | 'refused_url'
  | 'unexpected_status'
  | 'too_large'
  | 'timed_out'
  | 'tls_failed'
  | 'unreachable';

/** Why a request came to nothing. The message names neither the URL's path nor what it answered. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError';
  readonly fault: OutgoingFault;

  constructor(fault: OutgoingFault, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.fault = fault;
  }
}

export interface GuardedRequest {
  readonly url: string;
  /** Hosts whose addresses may be any, and which may be asked without TLS. */
  readonly allowedHosts: ReadonlySet<string>;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A connection that moves no byte for this long is cut. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
  /** The system's, except in tests. */
  readonly lookup?: Lookup;
}

/**
 * Asks a URL that somebody else has chosen: https alone, no redirect followed, no address that is not public. Addresses are
 * looked at when the connection is made, so that a name cannot come to mean another one in between. The answer's body is the
 * caller's to read or to destroy. Throws OutgoingError, or the signal's reason.
 */
export async function guardedRequest(request: GuardedRequest): Promise<http.IncomingMessage> {
  const { allowedHosts, signal, idleMs, method, headers, body, lookup = systemLookup } = request;
  const fault = judgeUrl(request.url, allowedHosts);
  if (fault !== null) throw new OutgoingError('refused_url', `The URL ${fault}.`);
  const url = new URL(request.url);
  const isAllowed = isAllowedHost(url, allowedHosts);
  if (!isAllowed && isUnassigned(hostOf(url))) throw refusedAddress();
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const { request: send } = url.protocol === 'https:' ? https : http;
  // An agent of its own: a kept connection was made by some other look at the name.
  const route = isAllowed
    ? { agent: false, lookup }
    : { agent: guardedAgent(url.protocol), lookup: assignedOnly(lookup) };
  const call = send(url, { ...route, method, headers, signal, timeout: idleMs }, resolve);
  call.on('timeout', () => call.destroy(new OutgoingError('timed_out', 'The URL did not answer in time.')));
  call.on('error', (error) => reject(toOutgoingError(error, signal)));
  call.end(body);
  return promise;
}

/** What ended a request, in closed words. A caller's own abort stays what it is. */
export function toOutgoingError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof OutgoingError) return error;
  if (signal.aborted && error instanceof Error && error.name === 'AbortError') return signal.reason;
  if (isRefusal(error)) return refusedAddress();
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)|^EPROTO$/.test(code))
    return new OutgoingError('tls_failed', 'The URL has no certificate that can be trusted, or speaks no TLS.');
  return new OutgoingError('unreachable', 'The URL cannot be reached.', { cause: error });
}

function refusedAddress(): OutgoingError {
  return new OutgoingError('refused_address', 'The URL leads to an address that is not public.');
}
