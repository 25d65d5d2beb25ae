import { expect, test } from 'vitest';
import {
  DEFAULT_TENANT_POLICY,
  isAsStrict,
  POLICY_MEMBERS,
  readTenantPolicy,
  STORAGE_POLICIES,
} from './tenant-policy.ts';

test('what a policy leaves open is the gateway’s default, what it sets to null is null', () => {
  expect(readTenantPolicy({})).toEqual(DEFAULT_TENANT_POLICY);
  expect(readTenantPolicy({ content_retention_ms: null, max_drafts: 3 })).toEqual({
    ...DEFAULT_TENANT_POLICY,
    contentRetentionMs: null,
    maxDrafts: 3,
  });
});

test('every member has a stored name of its own', () => {
  expect(Object.keys(POLICY_MEMBERS)).toEqual(Object.keys(DEFAULT_TENANT_POLICY));
  expect(new Set(Object.values(POLICY_MEMBERS)).size).toBe(Object.keys(POLICY_MEMBERS).length);
});

test('a policy is as strict as itself and as all that keep more', () => {
  for (const [index, allowed] of STORAGE_POLICIES.entries())
    expect(STORAGE_POLICIES.filter((asked) => isAsStrict(asked, allowed))).toEqual(STORAGE_POLICIES.slice(index));
});
