import type { MiddlewareHandler } from 'hono';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiEnv } from '../env.ts';

/** Room for a custom id of 512 code points, each written as twelve characters, and for a cursor. */
const MAX_URL_CHARS = 12_000;
const MAX_HEADERS = 100;

/**
 * Refuses a long URL with `uri_too_long` and many headers with `headers_too_large`. Those that together are larger than the
 * server reads never get here; see api/server/http-server.ts.
 */
export const requireSmallHead: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (c.req.url.length > MAX_URL_CHARS) {
    throw new GatewayError(
      'uri_too_long',
      `A URL may have at most ${MAX_URL_CHARS} characters. Ask for less at a time.`,
    );
  }
  const headers = c.env?.incoming === undefined ? [...c.req.raw.headers].length : c.env.incoming.rawHeaders.length / 2;
  if (headers > MAX_HEADERS) {
    throw new GatewayError('headers_too_large', `A call may have at most ${MAX_HEADERS} headers, not ${headers}.`);
  }
  await next();
};
