import { expect, test } from 'vitest';
import { ROLES } from './principal.ts';
import { SCOPES, SCOPES_OF } from './scope.ts';

test('every scope is of some role, and no role has one twice', () => {
  expect(new Set(Object.values(SCOPES_OF).flat())).toEqual(new Set(SCOPES));
  for (const role of ROLES) expect(new Set(SCOPES_OF[role]).size).toBe(SCOPES_OF[role].length);
});

test('a role of a tenant has none of the gateway, and only the tenant’s admin reads its audit log', () => {
  for (const role of ['tenant_admin', 'project', 'customer'] as const) {
    expect(SCOPES_OF[role].filter((scope) => /^(operator|admin):/.test(scope))).toEqual([]);
  }
  expect(ROLES.filter((role) => SCOPES_OF[role].includes('audit:read'))).toEqual(['tenant_admin']);
});
