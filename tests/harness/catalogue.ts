import { join } from 'node:path';
import pg from 'pg';

/** The catalogue that the migrations are known to make; renewed by scripts/update-catalogue.ts. */
export const CATALOGUE_SNAPSHOT = join(import.meta.dirname, '..', '..', 'prisma', 'catalogue.snapshot.txt');

/**
 * What the database is, as text that a reader can compare: tables, columns, constraints, indexes, triggers, policies,
 * grants, functions, sequences and types; then the partitions, those that are alike once, with their month as `yyyymm`. Prisma's
 * own table is left out.
 */
export async function describeCatalogue(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const lines: string[] = [];
    const linesOfLeaf = new Map<string, string[]>();
    for (const query of [
      TABLES,
      COLUMNS,
      CONSTRAINTS,
      INDEXES,
      TRIGGERS,
      POLICIES,
      GRANTS,
      FUNCTIONS,
      SEQUENCES,
      TYPES,
    ]) {
      const { rows } = await client.query<{ leaf: string | null; line: string }>(query);
      for (const { leaf, line } of rows) {
        if (leaf === null) lines.push(line);
        else linesOfLeaf.set(leaf, [...(linesOfLeaf.get(leaf) ?? []), withoutMonth(line)]);
      }
    }
    const leaves = new Set([...linesOfLeaf.values()].map((leafLines) => leafLines.join('\n')));
    return `${[...lines, ...[...leaves].sort()].join('\n')}\n`;
  } finally {
    await client.end();
  }
}

function withoutMonth(line: string): string {
  return line.replaceAll(/(?<!\d)\d{6}(?!\d)/g, 'yyyymm');
}

const RELATIONS = `
WITH relation AS (
  SELECT oid, relname AS name, relkind, relpersistence, reloptions, relrowsecurity, relispartition, relpartbound, relacl, relowner,
         CASE WHEN relispartition THEN relname END AS leaf
  FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S') AND relname <> '_prisma_migrations'
)`;

const TABLES = `${RELATIONS}
SELECT leaf, concat_ws(' ', 'table', name,
         CASE WHEN relpersistence = 'u' THEN 'unlogged' END,
         CASE WHEN relkind NOT IN ('r', 'p') THEN 'kind ' || relkind::text END,
         'partition by ' || pg_get_partkeydef(oid),
         CASE WHEN relispartition THEN 'partition ' || pg_get_expr(relpartbound, oid) END,
         CASE WHEN relrowsecurity THEN 'row level security' END,
         'with ' || array_to_string(reloptions, ', ')) AS line
FROM relation WHERE relkind <> 'S' ORDER BY line`;

const COLUMNS = `${RELATIONS}
SELECT leaf, concat_ws(' ', 'column', name || '.' || a.attname, format_type(a.atttypid, a.atttypmod),
         CASE WHEN a.attnotnull THEN 'not null' END,
         'default ' || pg_get_expr(d.adbin, d.adrelid),
         CASE a.attidentity WHEN 'a' THEN 'identity always' WHEN 'd' THEN 'identity by default' END,
         CASE WHEN a.attgenerated <> '' THEN 'generated' END,
         CASE WHEN a.attcollation <> t.typcollation THEN 'collate ' || a.attcollation::regcollation END) AS line
FROM relation JOIN pg_attribute a ON a.attrelid = relation.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef d ON d.adrelid = relation.oid AND d.adnum = a.attnum
WHERE relkind <> 'S' ORDER BY name, a.attnum`;

const CONSTRAINTS = `${RELATIONS}
SELECT leaf, concat_ws(' ', 'constraint', name || '.' || k.conname, pg_get_constraintdef(k.oid),
         CASE WHEN NOT k.convalidated THEN 'not validated' END) AS line
FROM relation JOIN pg_constraint k ON k.conrelid = relation.oid
WHERE k.contype <> 'n' ORDER BY line`;

const INDEXES = `${RELATIONS}
SELECT leaf, concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid), CASE WHEN NOT i.indisvalid THEN 'invalid' END) AS line
FROM relation JOIN pg_index i ON i.indrelid = relation.oid ORDER BY line`;

const TRIGGERS = `${RELATIONS}
SELECT leaf, concat_ws(' ', pg_get_triggerdef(t.oid),
         CASE WHEN t.tgenabled <> 'O' THEN 'enabled ' || t.tgenabled::text END) AS line
FROM relation JOIN pg_trigger t ON t.tgrelid = relation.oid WHERE NOT t.tgisinternal ORDER BY line`;

const POLICIES = `
SELECT NULL AS leaf, concat_ws(' ', 'policy', tablename || '.' || policyname, permissive, cmd, 'to', roles::text,
         'using ' || qual, 'check ' || with_check) AS line
FROM pg_policies WHERE schemaname = 'public' ORDER BY line`;

/** To others than the owner. */
const GRANTS = `${RELATIONS}, granted AS (
  SELECT leaf, CASE relkind WHEN 'S' THEN 'sequence ' ELSE '' END || name AS subject, acl.grantee, acl.privilege_type
  FROM relation, aclexplode(relacl) acl WHERE acl.grantee <> relowner
  UNION ALL
  SELECT NULL, 'function ' || p.oid::regprocedure, acl.grantee, acl.privilege_type
  FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) acl
  WHERE p.pronamespace = 'public'::regnamespace AND acl.grantee <> p.proowner
)
SELECT leaf, concat_ws(' ', 'grant', subject, 'to', CASE grantee WHEN 0 THEN 'public' ELSE grantee::regrole::text END,
         string_agg(lower(privilege_type), ', ' ORDER BY privilege_type)) AS line
FROM granted GROUP BY leaf, subject, grantee ORDER BY line`;

const FUNCTIONS = `
SELECT NULL AS leaf, pg_get_functiondef(p.oid) AS line
FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace ORDER BY p.proname, p.oid::regprocedure::text`;

const SEQUENCES = `${RELATIONS}
SELECT leaf, concat_ws(' ', 'sequence', name, format_type(s.seqtypid, null), 'start', s.seqstart, 'by', s.seqincrement) AS line
FROM relation JOIN pg_sequence s ON s.seqrelid = relation.oid ORDER BY line`;

const TYPES = `
SELECT NULL AS leaf, concat_ws(' ', 'type', t.typname, t.typtype::text, array_to_string(ARRAY(
         SELECT enumlabel::text FROM pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder), ', ')) AS line
FROM pg_type t WHERE t.typnamespace = 'public'::regnamespace AND t.typtype IN ('e', 'd', 'r') ORDER BY line`;
