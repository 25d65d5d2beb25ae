import type { Database } from '../../db/client.ts';

/** Every column of any table that holds texts, documents or bytes in which a text stands, as `table.column`. */
export async function columnsWith(db: Database, text: string): Promise<string[]> {
  const { rows: columns } = await db.pool.query<{ table: string; column: string; type: string }>(
    `SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type
     FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE'
       AND c.data_type IN ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY')`,
  );
  const found: string[] = [];
  for (const { table, column, type } of columns) {
    const shown = type === 'bytea' ? `encode("${column}", 'escape')` : `"${column}"::text`;
    const { rowCount } = await db.pool.query(`SELECT 1 FROM "${table}" WHERE strpos(${shown}, $1) > 0 LIMIT 1`, [text]);
    if (rowCount === 1) found.push(`${table}.${column}`);
  }
  return found.toSorted();
}
