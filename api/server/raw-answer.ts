import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../../db/ids.ts';
import type { GatewayError } from '../../domain/gateway-error.ts';
import { answerError } from '../errors.ts';
import { SECURITY_HEADERS } from '../security-headers.ts';

/**
 * A refusal where no request reaches the app, or its own answer would come too late: written by hand, and the last. `url` is
 * that of the call, where it was read.
 */
export function refuseOnSocket(socket: Duplex, error: GatewayError, url: string | null = null): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = newId('request');
  const { status, envelope, headers } = answerError(error, {
    requestId,
    path: url?.split('?', 1)[0] ?? null,
  });
  const body = JSON.stringify(envelope);
  const lines = Object.entries({
    ...SECURITY_HEADERS,
    ...headers,
    'X-Request-Id': requestId,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`, () =>
    socket.destroy(),
  );
}
