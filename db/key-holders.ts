import type pg from 'pg';

/** Whether a key may still act, for what is done in its name while it is not there. Null for one that was taken away. */
export async function findKeyHolder(
  db: Pick<pg.ClientBase, 'query'>,
  keyId: string,
  now: Date,
): Promise<{ readonly isActive: boolean; readonly isSuspended: boolean } | null> {
  const { rows } = await db.query<{ isActive: boolean; isSuspended: boolean }>(
    `SELECT k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2) AS "isActive",
       t.suspended_at IS NOT NULL OR c.suspended_at IS NOT NULL AS "isSuspended"
     FROM api_keys k
     LEFT JOIN tenants t ON t.tenant_id = k.tenant_id
     LEFT JOIN customers c ON c.tenant_id = k.tenant_id AND c.customer_id = k.customer_id
     WHERE k.key_id = $1`,
    [keyId, now],
  );
  return rows[0] ?? null;
}
