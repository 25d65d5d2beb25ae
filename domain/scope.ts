import type { Role } from './principal.ts';

/** What a key can be limited to. The list is closed; each route declares the one it needs. */
export const SCOPES = [
  'jobs:read',
  'jobs:write',
  'tasks:read',
  'tasks:write',
  'documents:read',
  'documents:write',
  'schedules:read',
  'schedules:write',
  'usage:read',
  'models:read',
  'webhooks:read',
  'webhooks:write',
  'audit:read',
  'operator:read',
  'operator:write',
  'admin:read',
  'admin:write',
] as const;
export type Scope = (typeof SCOPES)[number];

const OF_TENANTS = [
  'jobs:read',
  'jobs:write',
  'tasks:read',
  'tasks:write',
  'documents:read',
  'documents:write',
  'schedules:read',
  'schedules:write',
  'usage:read',
  'models:read',
  'webhooks:read',
  'webhooks:write',
] as const satisfies readonly Scope[];
const OF_OPERATORS = ['usage:read', 'operator:read', 'operator:write'] as const satisfies readonly Scope[];

/** The scopes a key of each role may have; one without scopes has all of its role. */
export const SCOPES_OF: { readonly [role in Role]: readonly Scope[] } = {
  tenant_admin: [...OF_TENANTS, 'audit:read'],
  project: OF_TENANTS,
  customer: OF_TENANTS,
  operator: OF_OPERATORS,
  gateway_admin: [...OF_OPERATORS, 'admin:read', 'admin:write'],
};
