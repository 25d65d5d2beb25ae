import type { Database } from './client.ts';
import { codeOf } from './errors.ts';
import { GATEWAY_SCOPE, inScope, type RowScope } from './row-scope.ts';
import { GATEWAY_ROLE, TENANT_ROLE } from './scoped-pool.ts';

/** Of no tenant there is. */
const SOME_TENANT: RowScope = { kind: 'tenant', tenantId: '' };
/** What Postgres answers to SET ROLE: there is no such role, or it may not be taken on. */
const REFUSALS: ReadonlySet<string | null> = new Set(['22023', '42501']);

/**
 * Why row-level security would not hold the calls of this scoped database, for whoever runs it; null where it would. Throws
 * where the database cannot be asked.
 */
export async function findRoleFault(db: Database): Promise<string | null> {
  try {
    await inScope(GATEWAY_SCOPE, () => db.pool.query('SELECT 1'));
    const { rows } = await inScope(SOME_TENANT, () =>
      db.pool.query<{ rolname: string }>(
        'SELECT rolname FROM pg_roles WHERE rolname IN ($1, $2) AND (rolsuper OR rolbypassrls) ORDER BY rolname',
        [TENANT_ROLE, GATEWAY_ROLE],
      ),
    );
    if (rows[0] === undefined) return null;
    return `No policy holds the role ${rows[0].rolname}. Run as an administrator: ALTER ROLE ${rows[0].rolname} NOSUPERUSER NOBYPASSRLS;`;
  } catch (error) {
    if (!(error instanceof Error) || !REFUSALS.has(codeOf(error))) throw error;
    return (
      `The login role of DATABASE_URL cannot speak as the roles of the api (${error.message}). Migrate, or run as an administrator: ` +
      `GRANT ${TENANT_ROLE}, ${GATEWAY_ROLE} TO <the login role>;`
    );
  }
}
