import type pg from 'pg';
import { monthBucket } from '../domain/bucket.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Tables of content alone. Those of accounts and hashes are never dropped. */
const CONTENT_TABLES = ['item_requests', 'item_results'] as const;
/** This month and the one before may get jobs still, from clocks that differ. */
const YOUNG_MONTHS = 1;
/** A drop waits no longer for those who read; the next run tries again. */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Drops the partitions of months in which every job has ended and none has a row of content left. Each is detached first,
 * without keeping anyone waiting, looked at once more, then dropped; what a crash leaves half done goes on in the next run. Answers
 * the names of those dropped. The connection must be one of its own, in no transaction.
 */
export async function dropEmptyMonths(client: Queryable, now: Date): Promise<string[]> {
  const before = monthBucket(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - YOUNG_MONTHS));
  const dropped: string[] = [];
  await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
  try {
    for (const parent of CONTENT_TABLES) {
      for (const leaf of await listLeaves(client, parent)) {
        if (leaf.bucket < before && (await dropLeaf(client, parent, leaf))) dropped.push(leaf.name);
      }
    }
  } finally {
    await client.query('RESET lock_timeout');
  }
  return dropped;
}

interface Leaf {
  readonly name: string;
  readonly bucket: number;
  readonly attachment: 'attached' | 'detaching' | 'detached';
}

/** By name, so that a leaf whose drop was broken off is found too. */
async function listLeaves(client: Queryable, parent: string): Promise<Leaf[]> {
  const { rows } = await client.query<Leaf>(
    `SELECT c.relname AS name, substring(c.relname FROM '\\d{6}$')::int AS bucket,
       CASE WHEN i.inhrelid IS NULL THEN 'detached' WHEN i.inhdetachpending THEN 'detaching' ELSE 'attached' END AS attachment
     FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname ~ ('^' || $1 || '_\\d{6}$')
     ORDER BY c.relname`,
    [parent],
  );
  return rows;
}

/** False where it has to stay, or could not be had in time. */
async function dropLeaf(client: Queryable, parent: string, { name, bucket, attachment }: Leaf): Promise<boolean> {
  try {
    if (attachment === 'attached') {
      if (!(await isOver(client, bucket)) || !(await isEmpty(client, name))) return false;
      await client.query(`ALTER TABLE ${parent} DETACH PARTITION ${name} CONCURRENTLY`);
    } else if (attachment === 'detaching') {
      await client.query(`ALTER TABLE ${parent} DETACH PARTITION ${name} FINALIZE`);
    }
    if (!(await isEmpty(client, name))) {
      await client.query(`ALTER TABLE ${parent} ATTACH PARTITION ${name} FOR VALUES IN (${bucket})`);
      return false;
    }
    await client.query(`DROP TABLE ${name}`);
    return true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

/** A job that has ended brings no more content; one that has not may, however old it is. */
async function isOver(client: Queryable, bucket: number): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM batch_jobs WHERE bucket = $1
       AND state NOT IN ('completed', 'completed_with_errors', 'expired', 'cancelled', 'failed') LIMIT 1`,
    [bucket],
  );
  return rowCount === 0;
}

async function isEmpty(client: Queryable, leaf: string): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT 1 FROM ${leaf} LIMIT 1`);
  return rowCount === 0;
}

/** lock_not_available (PostgreSQL, error codes), and query_canceled by the statement's own time. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['55P03', '57014'].includes(String(error.code));
}
