import type { MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiContext, ApiEnv } from '../env.ts';
import { readWholeBody } from './read-json-body.ts';

/** Reads a body of one text type whole, at most `maxBytes`, in UTF-8. Throws `unsupported_media_type` for another type. */
export function readTextBody(maxBytes: number, contentType: string): MiddlewareHandler<ApiEnv> {
  return every(requireType(contentType), readWholeBody(maxBytes));
}

function requireType(contentType: string): MiddlewareHandler<ApiEnv> {
  return async (c: ApiContext, next) => {
    const given = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
    if (given !== contentType) {
      throw new GatewayError('unsupported_media_type', `The body of this call is sent as ${contentType}.`);
    }
    await next();
  };
}
