import type pg from 'pg';
import type { DocumentColumn } from '../domain/document.ts';

/** The columns of the runs of a batch, those of the latest first, each name once: what its documents may have rows of. */
export async function listBatchColumns(
  db: Pick<pg.ClientBase, 'query'>,
  batchId: string,
): Promise<readonly DocumentColumn[]> {
  const { rows } = await db.query<{ columns: readonly DocumentColumn[] }>(
    'SELECT columns FROM document_runs WHERE batch_id = $1 GROUP BY columns ORDER BY max(run_id::text) DESC',
    [batchId],
  );
  const columns = new Map<string, DocumentColumn>();
  for (const column of rows.flatMap((row) => row.columns))
    if (!columns.has(column.name)) columns.set(column.name, column);
  return [...columns.values()];
}
