import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Database } from '../../db/client.ts';

/** The forms in which a secret may lie about: as text, and as bytes in hexadecimal or base64. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Base64 of a text that holds it depends on where it begins; without its ends it is in one of three.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, bytes.toString('hex'), ...shifted];
}

/** Columns of the database, as `table`, whose rows hold one of the secrets in any form. */
export async function tablesWith({ pool }: Database, secrets: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  const patterns = secrets.flatMap(formsOf).map((form) => `%${form.replaceAll(/[\\%_]/g, '\\$&')}%`);
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool.query(`SELECT 1 FROM ${name} row WHERE row::text LIKE ANY($1) LIMIT 1`, [patterns]);
    if (rowCount !== 0) found.push(name);
  }
  return found;
}

/** Every event of every workflow of the client's namespace, as the server has it: the bytes by workflow and run. */
export async function readRawHistories(client: Client): Promise<Map<string, Buffer>> {
  const histories = new Map<string, Buffer>();
  for await (const { workflowId, runId } of client.workflow.list()) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const bytes = proto.temporal.api.history.v1.History.encode(history).finish();
    histories.set(`${workflowId} ${runId}`, Buffer.from(bytes));
  }
  return histories;
}
