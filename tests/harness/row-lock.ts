import type { Database } from '../../db/client.ts';

/** Holds rows until it is let go, so that whoever needs them stops at a known place. */
export interface RowLock {
  /** Whether anybody waits for it. */
  isWantedBySomeone(): Promise<boolean>;
  /** May be called again. */
  release(): Promise<void>;
}

/** `sql` selects the rows, `FOR UPDATE`. */
export async function lockRows(db: Database, sql: string, values: readonly unknown[]): Promise<RowLock> {
  const client = await db.pool.connect();
  await client.query('BEGIN');
  await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  const { rowCount } = await client.query(sql, [...values]);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  let isHeld = true;
  const release = async (): Promise<void> => {
    if (!isHeld) return;
    isHeld = false;
    await client.query('ROLLBACK');
    client.release();
  };
  if (rowCount === 0) {
    await release();
    throw new Error('there is no row to lock');
  }
  return {
    isWantedBySomeone: async () => {
      const waiting = await db.pool.query('SELECT FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))', [
        rows[0]?.pid,
      ]);
      return waiting.rowCount !== 0;
    },
    release,
  };
}
