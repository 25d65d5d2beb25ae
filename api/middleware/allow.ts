import type { MiddlewareHandler } from 'hono';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Role } from '../../domain/principal.ts';
import type { Scope } from '../../domain/scope.ts';
import type { ApiEnv } from '../env.ts';

/** Everyone inside a tenant; what a key sees is narrowed by its own project and customer. */
export const TENANT_ROLES = ['tenant_admin', 'project', 'customer'] as const satisfies readonly Role[];
export const OPERATOR_ROLES = ['operator', 'gateway_admin'] as const satisfies readonly Role[];
export const ADMIN_ROLES = ['gateway_admin'] as const satisfies readonly Role[];

/** Who may call a route. A pair of scopes is told apart by the method: GET reads, everything else writes. */
export interface Access {
  readonly roles: readonly Role[];
  readonly scope: Scope | { readonly read: Scope; readonly write: Scope };
}

const DECLARED = new WeakMap<object, Access>();

/** Refuses a key of another role, or limited to other scopes, before anything of the request is looked at. */
export function allow(access: Access): MiddlewareHandler<ApiEnv> {
  const middleware: MiddlewareHandler<ApiEnv> = async (c, next) => {
    const { role, scopes } = c.var.principal;
    if (!access.roles.includes(role)) {
      throw new GatewayError('forbidden', `This call is for keys of the roles ${access.roles.join(', ')}.`);
    }
    const scope = scopeOf(access, c.req.method);
    if (scopes.length > 0 && !scopes.includes(scope)) {
      throw new GatewayError('forbidden', `This call needs the scope ${scope}, which this key does not have.`);
    }
    await next();
  };
  DECLARED.set(middleware, access);
  return middleware;
}

/** What `allow` was told, for the reference; null for any other handler. */
export function accessOf(
  handler: object,
  method: string,
): { readonly roles: readonly Role[]; readonly scope: Scope } | null {
  const access = DECLARED.get(handler);
  return access === undefined ? null : { roles: access.roles, scope: scopeOf(access, method) };
}

function scopeOf({ scope }: Access, method: string): Scope {
  if (typeof scope === 'string') return scope;
  return method === 'GET' || method === 'HEAD' ? scope.read : scope.write;
}
