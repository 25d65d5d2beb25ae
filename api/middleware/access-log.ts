import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { Logger } from '../../telemetry/logger.ts';
import type { ApiEnv } from '../env.ts';

/** One line for each request: the route's pattern rather than its path, which may hold ids of the caller's own. */
export function accessLog(logger: Logger): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const startedAt = performance.now();
    await next();
    const { principal, logged } = c.var as Partial<ApiEnv['Variables']>;
    logger.info(
      {
        request_id: c.var.requestId,
        method: c.req.method,
        route: routePath(c, -1),
        status: c.res.status,
        duration_ms: Math.round(performance.now() - startedAt),
        key_id: principal?.keyId ?? null,
        tenant_id: principal?.tenantId ?? null,
        ...logged,
      },
      'request',
    );
  };
}
