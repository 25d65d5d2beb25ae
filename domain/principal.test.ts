import { expect, test } from 'vitest';
import { isGatewayRole, isRole, ROLES } from './principal.ts';

test('two roles belong to the gateway, the others to a tenant', () => {
  expect(ROLES.filter(isGatewayRole)).toEqual(['operator', 'gateway_admin']);
  expect(ROLES.filter((role) => !isGatewayRole(role))).toEqual(['tenant_admin', 'project', 'customer']);
});

test('knows a role from any other word', () => {
  expect(ROLES.every(isRole)).toBe(true);
  expect(isRole('admin')).toBe(false);
});
