import type { MiddlewareHandler } from 'hono';
import { findPrincipal } from '../../db/api-keys.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { ApiEnv } from '../env.ts';

const BEARER = /^Bearer +(\S+)$/i;

/** Sets the principal of the key in `Authorization`, or refuses. */
export function authenticate(dependencies: Pick<ApiDependencies, 'db' | 'now'>): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { db, now } = dependencies;
    const key = BEARER.exec(c.req.header('authorization') ?? '')?.[1];
    const principal = key === undefined ? null : await findPrincipal(db.pool, key, now());
    if (principal === null) {
      throw new GatewayError('unauthorized', 'Send a valid key in the header "Authorization: Bearer <key>".');
    }
    c.set('principal', principal);
    await next();
  };
}
