import type { MiddlewareHandler } from 'hono';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Role } from '../../domain/principal.ts';
import type { ApiEnv } from '../env.ts';

/** Everyone inside a tenant; what a key sees is narrowed by its own project and customer. */
export const TENANT_ROLES = ['tenant_admin', 'project', 'customer'] as const satisfies readonly Role[];
export const OPERATOR_ROLES = ['operator', 'gateway_admin'] as const satisfies readonly Role[];
export const ADMIN_ROLES = ['gateway_admin'] as const satisfies readonly Role[];

/** Refuses a key of another role before anything of the request is looked at. */
export function requireRole(roles: readonly Role[]): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    if (!roles.includes(c.var.principal.role)) {
      throw new GatewayError('forbidden', `This call is for keys of the roles ${roles.join(', ')}.`);
    }
    await next();
  };
}
