import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A division of a tenant that keys, jobs and budgets can be bound to. */
export interface Project {
  readonly projectId: string;
  readonly name: string;
  readonly createdAt: Date;
}

const SELECT_PROJECT = 'SELECT project_id AS "projectId", name, created_at AS "createdAt" FROM projects';

/** False when the id is taken. */
export async function insertProject(
  db: Queryable,
  { tenantId, projectId, name }: { readonly tenantId: string; readonly projectId: string; readonly name: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [tenantId, projectId, name],
  );
  return rowCount === 1;
}

export async function findProject(db: Queryable, tenantId: string, projectId: string): Promise<Project | null> {
  const { rows } = await db.query<Project>(`${SELECT_PROJECT} WHERE tenant_id = $1 AND project_id = $2`, [
    tenantId,
    projectId,
  ]);
  return rows[0] ?? null;
}

/** By id, those after one. */
export async function listProjects(
  db: Queryable,
  tenantId: string,
  page: { readonly after: string | null; readonly limit: number },
): Promise<Project[]> {
  const { rows } = await db.query<Project>(
    `${SELECT_PROJECT} WHERE tenant_id = $1 AND ($2::text IS NULL OR project_id > $2) ORDER BY project_id LIMIT $3`,
    [tenantId, page.after, page.limit],
  );
  return rows;
}

/** False for one that is not the tenant's. */
export async function renameProject(
  db: Queryable,
  { tenantId, projectId, name }: { readonly tenantId: string; readonly projectId: string; readonly name: string },
): Promise<boolean> {
  const { rowCount } = await db.query('UPDATE projects SET name = $3 WHERE tenant_id = $1 AND project_id = $2', [
    tenantId,
    projectId,
    name,
  ]);
  return rowCount === 1;
}
