import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../env.ts';
import { SECURITY_HEADERS } from '../security-headers.ts';

/** Puts `SECURITY_HEADERS` on every answer, refusals too, where the route has not said otherwise. */
export const securityHeaders: MiddlewareHandler<ApiEnv> = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};
