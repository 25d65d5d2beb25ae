import type { MiddlewareHandler } from 'hono';
import { isWithinRate, rateLimitHeaders, STATUS_READS } from '../../domain/rate-limit.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { ApiEnv } from '../env.ts';
import { statusRateLimited } from '../limits/request-limits.ts';

/** Counts a call among the status reads of its key, which have a limit of their own beside that of all its calls. */
export function limitStatusReads(dependencies: Pick<ApiDependencies, 'limits'>): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const standing = await dependencies.limits.countStatusRead(c.var.principal);
    const told = Object.entries(rateLimitHeaders(standing, STATUS_READS.name));
    for (const [name, value] of told) c.header(name, value, { append: true });
    if (!isWithinRate(standing)) throw statusRateLimited(standing);
    await next();
  };
}
