import type pg from 'pg';

/** What a new job takes from its tenant, and whether the project and customer it names are the tenant's. */
export interface JobOwner {
  readonly currency: string;
  readonly projectIsKnown: boolean;
  readonly customerIsKnown: boolean;
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
  }>(
    `SELECT t.currency,
       $2::text IS NULL OR EXISTS (SELECT 1 FROM projects p WHERE p.tenant_id = $1 AND p.project_id = $2) AS project_is_known,
       $3::text IS NULL OR EXISTS (SELECT 1 FROM customers c WHERE c.tenant_id = $1 AND c.customer_id = $3) AS customer_is_known
     FROM tenants t WHERE t.tenant_id = $1`,
    [owner.tenantId, owner.projectId, owner.customerId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    currency: row.currency,
    projectIsKnown: row.project_is_known,
    customerIsKnown: row.customer_is_known,
  };
}
