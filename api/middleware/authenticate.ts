import type { MiddlewareHandler } from 'hono';
import { findPrincipal } from '../../db/api-keys.ts';
import { GATEWAY_SCOPE, inScope, type RowScope } from '../../db/row-scope.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { ApiEnv } from '../env.ts';

const BEARER = /^Bearer +(\S+)$/i;

/** Sets the principal of the key in `Authorization`, whose rows are all that the rest of the call can see; or refuses. */
export function authenticate(dependencies: Pick<ApiDependencies, 'db' | 'now'>): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { db, now } = dependencies;
    const key = BEARER.exec(c.req.header('authorization') ?? '')?.[1];
    const principal = key === undefined ? null : await findPrincipal(db.pool, key, now());
    if (principal === null) {
      throw new GatewayError('unauthorized', 'Send a valid key in the header "Authorization: Bearer <key>".');
    }
    c.set('principal', principal);
    await inScope(rowScopeOf(principal), next);
  };
}

function rowScopeOf({ tenantId }: Principal): RowScope {
  return tenantId === null ? GATEWAY_SCOPE : { kind: 'tenant', tenantId };
}
