import type pg from 'pg';

type Queryable = Pick<pg.Pool, 'query'>;

const OPEN_OF_TENANT = `(SELECT count(*)::int FROM async_tasks t WHERE t.tenant_id = $1 AND t.state IN ('QUEUED', 'PROCESSING'))`;

/** Tenants whose count of open tasks is not what they have, as far as one look can tell: a task may come or go just then. */
export async function listDoubtfulSlots(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ tenant_id: string }>(
    `SELECT tenant_id
     FROM (SELECT tenant_id, count(*)::int AS open FROM async_tasks WHERE state IN ('QUEUED', 'PROCESSING') GROUP BY tenant_id) o
     FULL JOIN (SELECT tenant_id, in_use FROM task_slots) s USING (tenant_id)
     WHERE coalesce(o.open, 0) <> coalesce(s.in_use, 0) ORDER BY random() LIMIT $1`,
    [limit],
  );
  return rows.map((row) => row.tenant_id);
}

/**
 * Sets a tenant's count to what it has. The row is locked first, and whoever adds or ends a task changes that row last: so
 * what is counted then, by a statement that begins under the lock, is exactly what those transactions have left that the count
 * has seen; the others wait for the lock with their tasks not yet visible. Null where the count was right.
 */
export async function correctSlots(
  client: pg.PoolClient,
  tenantId: string,
): Promise<{ readonly counted: number; readonly open: number } | null> {
  await client.query('INSERT INTO task_slots (tenant_id, in_use) VALUES ($1, 0) ON CONFLICT DO NOTHING', [tenantId]);
  const { rows: locked } = await client.query<{ in_use: number }>(
    'SELECT in_use FROM task_slots WHERE tenant_id = $1 FOR UPDATE',
    [tenantId],
  );
  const { rows: found } = await client.query<{ open: number }>(`SELECT ${OPEN_OF_TENANT} AS open`, [tenantId]);
  const [counted, open] = [locked[0]?.in_use ?? 0, found[0]?.open ?? 0];
  if (counted === open) return null;
  await client.query('UPDATE task_slots SET in_use = $2 WHERE tenant_id = $1', [tenantId, open]);
  return { counted, open };
}
