import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.ts';
import { ScopedPool } from './scoped-pool.ts';

/** No statement of a request or an activity runs longer, unless its transaction asks for more. */
const STATEMENT_TIMEOUT_MS = 60_000;
/** A wait behind another transaction that is this long is a fault, not a queue. */
const LOCK_TIMEOUT_MS = 10_000;
/** A transaction left open by a stalled process gives its locks back. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** Most connections this process holds, Prisma's included. */
  readonly poolSize: number;
  /** Whether statements see only the rows of their scope (db/row-scope.ts), and none outside of one. */
  readonly isScoped?: boolean;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Told of connections that break while idle; the pool replaces them. */
  readonly onIdleError?: (error: Error) => void;
}

/** One pool, spoken to through Prisma for rows and directly for bulk and for transactions. */
export interface Database {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  close(): Promise<void>;
}

/** Opens lazily: the first query connects. Every connection runs in UTC, which Prisma's adapter relies on for times. */
export function openDatabase({ url, poolSize, isScoped, applicationName, onIdleError }: DatabaseOptions): Database {
  const Pool = isScoped === true ? ScopedPool : pg.Pool;
  const pool = new Pool({
    ...connectionOptions(url),
    application_name: applicationName,
    max: poolSize,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
  });
  // Without a listener, a server restart would end the process.
  pool.on('error', (error) => onIdleError?.(error));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return {
    pool,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** What in a URL would override the pool's own options: the session's `options`, to which the time zone is added. */
function connectionOptions(url: string): { connectionString: string; options: string } {
  const parsed = new URL(url);
  const given = parsed.searchParams.get('options');
  parsed.searchParams.delete('options');
  return { connectionString: parsed.href, options: `${given ?? ''} -c TimeZone=UTC`.trim() };
}
