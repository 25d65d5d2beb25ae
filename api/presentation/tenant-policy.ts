import type { TenantPolicy as PublicPolicy } from '../../contracts/tenant-policy.ts';
import { POLICY_MEMBERS, type TenantPolicy } from '../../domain/tenant-policy.ts';

export function presentPolicy(policy: TenantPolicy): PublicPolicy['policy'] {
  const names = Object.keys(POLICY_MEMBERS) as (keyof TenantPolicy)[];
  return Object.fromEntries(names.map((name) => [POLICY_MEMBERS[name], policy[name]])) as PublicPolicy['policy'];
}
