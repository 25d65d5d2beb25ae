import type pg from 'pg';

/** What a new job takes from its tenant, and whether the project and customer it names are the tenant's. */
export interface JobOwner {
  readonly currency: string;
  readonly projectIsKnown: boolean;
  readonly customerIsKnown: boolean;
  readonly customerIsSuspended: boolean;
}

/** Null for an unknown tenant. A null project or customer counts as known. */
export async function findJobOwner(
  db: Pick<pg.ClientBase, 'query'>,
  owner: { readonly tenantId: string; readonly projectId: string | null; readonly customerId: string | null },
): Promise<JobOwner | null> {
  const { rows } = await db.query<{
    currency: string;
    project_is_known: boolean;
    customer_is_known: boolean;
    customer_is_suspended: boolean;
  }>(
    `SELECT t.currency,
       $2::text IS NULL OR EXISTS (SELECT 1 FROM projects p WHERE p.tenant_id = $1 AND p.project_id = $2) AS project_is_known,
       $3::text IS NULL OR c.customer_id IS NOT NULL AS customer_is_known,
       c.suspended_at IS NOT NULL AS customer_is_suspended
     FROM tenants t LEFT JOIN customers c ON c.tenant_id = t.tenant_id AND c.customer_id = $3
     WHERE t.tenant_id = $1`,
    [owner.tenantId, owner.projectId, owner.customerId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    currency: row.currency,
    projectIsKnown: row.project_is_known,
    customerIsKnown: row.customer_is_known,
    customerIsSuspended: row.customer_is_suspended,
  };
}
