import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { every } from 'hono/combine';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../../domain/json-depth.ts';
import type { ApiContext, ApiEnv } from '../env.ts';

/**
 * Reads a JSON body whole, at most `maxBytes`, and hashes it for `Idempotency-Key`. An empty body stands for `{}`, since
 * clients send none where every field is optional.
 */
export function readJsonBody(maxBytes: number): MiddlewareHandler<ApiEnv> {
  return every(readWholeBody(maxBytes), requireShallow);
}

/** The same of a body of any text. */
export function readWholeBody(maxBytes: number): MiddlewareHandler<ApiEnv> {
  const limit = bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw new GatewayError('request_too_large', `The body of this call may have at most ${maxBytes} bytes.`);
    },
  });
  return every(limit, readBytes);
}

const readBytes: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const encoding = c.req.header('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_media_type', 'The body of this call may not have a Content-Encoding.');
  }
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  if (bytes.length === 0) replaceBody(c, '{}');
  else requireUtf8(bytes);
  c.set('contentHash', createHash('sha256').update(bytes).digest());
  await next();
};

/** Before anything parses it, so that no depth fills the memory or the stack. */
const requireShallow: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (isTextTooDeep(await c.req.text())) {
    throw new GatewayError('invalid_json', `The body is nested deeper than ${MAX_JSON_DEPTH} levels. Flatten it.`);
  }
  await next();
};

function replaceBody(c: ApiContext, body: string): void {
  c.req.bodyCache = {};
  const { method, url, headers } = c.req.raw;
  c.req.raw = new Request(url, { method, headers: asJson(headers), body });
}

/** A text body would otherwise be given a type of its own. */
function asJson(headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete('content-length');
  kept.set('content-type', 'application/json');
  return kept;
}

function requireUtf8(bytes: Uint8Array): void {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new GatewayError('body_encoding', 'The body is not valid UTF-8.', { cause: error });
  }
}
