import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { serve } from '@hono/node-server';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiApp } from '../env.ts';
import { type BodyPace, BodyWatch } from './body-watch.ts';
import { refuseOnSocket } from './raw-answer.ts';

/** An upload of a million items over a slow line takes hours; Node's own limit is five minutes. */
const REQUEST_TIMEOUT_MS = 6 * 60 * 60_000;
/** How often connections are looked over for requests that take too long. */
const CHECK_MS = 1_000;

export interface ServerSettings {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  /** Of the request line and all headers. */
  readonly maxHeaderBytes: number;
  /** From the first byte of a request, or the start of the connection, to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** One more is closed without an answer. */
  readonly maxConnections: number;
  readonly bodyPace: BodyPace;
}

/** Serves the app on a port. What never becomes a request of the app is refused here, in the app's own envelope. */
export function serveApi(
  app: Pick<ApiApp, 'fetch'>,
  settings: ServerSettings,
  onListening: (address: AddressInfo) => void,
): Server {
  const server = serve(
    {
      fetch: app.fetch,
      hostname: settings.host,
      port: settings.port,
      serverOptions: {
        requestTimeout: REQUEST_TIMEOUT_MS,
        headersTimeout: settings.headersTimeoutMs,
        connectionsCheckingInterval: CHECK_MS,
        maxHeaderSize: settings.maxHeaderBytes,
      },
    },
    onListening,
  ) as Server;
  server.maxConnections = settings.maxConnections;
  const bodies = new BodyWatch(settings.bodyPace);
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    answers.set(incoming.socket, outgoing);
    bodies.add(incoming, outgoing);
  });
  server.on('clientError', (error: Error, socket: Duplex) => {
    const answer = answers.get(socket);
    const hasBegun = answer?.headersSent === true && !answer.writableFinished;
    if (hasBegun || codeOf(error) === 'ECONNRESET') socket.destroy();
    else refuseOnSocket(socket, refusalOf(error, settings));
  });
  server.on('connect', (_incoming: IncomingMessage, socket: Duplex) => {
    refuseOnSocket(socket, new GatewayError('method_not_allowed', 'This server is no proxy.'));
  });
  return server;
}

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined;
}

/** The codes of Node's parser (llhttp) and of its server. */
function refusalOf(error: Error, { maxHeaderBytes, headersTimeoutMs }: ServerSettings): GatewayError {
  switch (codeOf(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError(
        'headers_too_large',
        `The URL and the headers of a call may have at most ${maxHeaderBytes} bytes together.`,
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new GatewayError('request_too_large', 'The chunks of the body carry extensions that are too long.');
    case 'HPE_INVALID_METHOD':
      return new GatewayError('method_not_allowed', 'There is no such method.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError(
        'request_timeout',
        `The headers of the call did not come within ${headersTimeoutMs / 1_000} seconds.`,
      );
    default:
      return new GatewayError('invalid_request', 'This is not a request of HTTP/1.1.');
  }
}
