import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A column of sealed bytes, each sealed for `table/id`. */
export interface SealedColumn {
  readonly table: string;
  readonly id: string;
  readonly column: string;
}

/** All that lies sealed and has to be sealed anew when the gateway's key changes. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'provider_credentials', id: 'credential_id', column: 'sealed_key' },
  { table: 'webhook_secrets', id: 'secret_id', column: 'sealed' },
  { table: 'webhook_secrets', id: 'secret_id', column: 'previous_sealed' },
  { table: 'task_replies', id: 'task_id', column: 'sealed' },
  { table: 'webhook_deliveries', id: 'delivery_id', column: 'sealed_body' },
  { table: 'document_rows', id: 'document_id', column: 'sealed' },
  { table: 'document_repairs', id: 'document_id', column: 'sealed' },
  { table: 'documents', id: 'document_id', column: 'sealed_file_name' },
];

export interface SealedValue {
  readonly id: string;
  readonly sealed: Buffer;
}

/** In order of their ids, those after an id, or with null the first. */
export async function listSealed(
  db: Queryable,
  { table, id, column }: SealedColumn,
  page: { readonly after: string | null; readonly limit: number },
): Promise<SealedValue[]> {
  const { rows } = await db.query<SealedValue>(
    `SELECT "${id}" AS id, "${column}" AS sealed FROM "${table}" WHERE "${column}" IS NOT NULL AND ("${id}" > $1 OR $1 IS NULL)
     ORDER BY "${id}" LIMIT $2`,
    [page.after, page.limit],
  );
  return rows;
}

/** False where it has changed since it was read. */
export async function replaceSealed(
  client: Queryable,
  { table, id, column }: SealedColumn,
  before: SealedValue,
  sealed: Buffer,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE "${table}" SET "${column}" = $2 WHERE "${id}" = $1 AND "${column}" = $3`,
    [before.id, sealed, before.sealed],
  );
  return rowCount === 1;
}
