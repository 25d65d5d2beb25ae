import type pg from 'pg';
import { findTenant } from '../../db/tenants.ts';
import { DEFAULT_TENANT_POLICY, readTenantPolicy, type TenantPolicy } from '../../domain/tenant-policy.ts';
import { BoundedMap } from './bounded-map.ts';

/** A change of a policy reaches every process within this time. */
const KNOWN_FOR_MS = 10_000;
const MAX_KNOWN = 10_000;

/** Tenants' policies as they were moments ago, so that a call need not read its own; the default while they cannot be read. */
export class KnownPolicies {
  readonly #pool: () => pg.Pool;
  readonly #known = new BoundedMap<string, { readonly until: number; readonly policy: Promise<TenantPolicy> }>(
    MAX_KNOWN,
  );

  constructor(pool: () => pg.Pool) {
    this.#pool = pool;
  }

  /** That of the gateway's own keys, which have no tenant, is the default. */
  async of(tenantId: string | null): Promise<TenantPolicy> {
    if (tenantId === null) return DEFAULT_TENANT_POLICY;
    const known = this.#known.get(tenantId);
    if (known !== undefined && known.until > Date.now()) return known.policy;
    const policy = this.#read(tenantId).catch(() => {
      this.#known.delete(tenantId);
      return DEFAULT_TENANT_POLICY;
    });
    this.#known.set(tenantId, { until: Date.now() + KNOWN_FOR_MS, policy });
    return policy;
  }

  async #read(tenantId: string): Promise<TenantPolicy> {
    const tenant = await findTenant(this.#pool(), tenantId);
    return tenant === null ? DEFAULT_TENANT_POLICY : readTenantPolicy(tenant.policy);
  }
}
