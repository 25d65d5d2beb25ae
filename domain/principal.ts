/** What a key may do: three roles inside a tenant, two of the gateway itself. */
export const ROLES = ['tenant_admin', 'project', 'customer', 'operator', 'gateway_admin'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that belong to no tenant. */
const GATEWAY_ROLES: readonly Role[] = ['operator', 'gateway_admin'];

/** Who is asking. A `project` or `customer` key is bound to its own; elsewhere the field is null unless the key was narrowed. */
export interface Principal {
  readonly keyId: string;
  readonly role: Role;
  /** Null for `operator` and `gateway_admin`. */
  readonly tenantId: string | null;
  readonly projectId: string | null;
  readonly customerId: string | null;
  /** What the key is limited to, of what its role may do; empty for all of it. */
  readonly scopes: readonly string[];
}

export function isRole(value: string): value is Role {
  return (ROLES as readonly string[]).includes(value);
}

export function isGatewayRole(role: Role): boolean {
  return GATEWAY_ROLES.includes(role);
}
