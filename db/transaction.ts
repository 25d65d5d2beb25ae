import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Database } from './client.ts';
import { asGatewayError, codeOf, isConnectionFailure, isLostRace, SQLSTATE } from './errors.ts';
import { prepared } from './prepared.ts';

const MAX_ATTEMPTS = 5;
const RETRY_STEP_MS = 20;

export interface TransactionOptions {
  /** Given, a lock not had in this time is `job_busy`; else the pool's own limit applies and its error is passed on. */
  readonly lockTimeoutMs?: number;
  /** For bulk work: replaces the pool's limit on each statement. 0 is none. */
  readonly statementTimeoutMs?: number;
  /**
   * For statements that join thousands of rows of one job: no nested loops. A table that has just been filled has no
   * statistics yet, and the planner would take a join that visits every pair for one that visits a handful.
   */
  readonly setWise?: boolean;
  /** For transactions of few rows that are run over and over; see db/prepared.ts. */
  readonly isPrepared?: boolean;
}

/** Whether the code that asks runs inside a transaction of the given database that is still open. */
const current = new AsyncLocalStorage<{ database: Database; open: boolean }>();

/**
 * Runs `work` between BEGIN and COMMIT on one connection. After a deadlock or a serialisation failure it is run again,
 * so it may have no effect but its statements. It may not begin another transaction: with every connection waiting for
 * a second one, the pool would stand still. Throws what `work` throws, `job_busy` (see lockTimeoutMs), or
 * `dependency_unavailable` when the database is away before COMMIT; a connection that breaks during COMMIT is an ordinary
 * error, since the effect may have happened.
 */
export async function inTransaction<Result>(
  db: Database,
  work: (client: pg.PoolClient) => Promise<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  const outer = current.getStore();
  if (outer?.open && outer.database === db) throw new Error('inTransaction inside a transaction of the same database');
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runOnce(db, work, options);
    } catch (error) {
      if (attempt < MAX_ATTEMPTS && isLostRace(error)) {
        await delay(attempt * RETRY_STEP_MS);
        continue;
      }
      if (options.lockTimeoutMs !== undefined && codeOf(error) === SQLSTATE.lockNotAvailable) {
        throw new GatewayError('job_busy', 'Another request is changing the same rows. Try again.', {
          cause: error,
          retryAfterSeconds: 1,
        });
      }
      throw error;
    }
  }
}

async function runOnce<Result>(
  db: Database,
  work: (client: pg.PoolClient) => Promise<Result>,
  options: TransactionOptions,
): Promise<Result> {
  const client = await db.pool.connect().catch((error: unknown) => {
    throw asGatewayError(error);
  });
  const scope = { database: db, open: true };
  let broken: Error | undefined;
  const onError = (error: Error): void => {
    broken = error;
  };
  // A connection lost between two statements is reported here alone; unheard it would end the process.
  client.on('error', onError);
  try {
    let result: Result;
    try {
      await client.query(beginStatement(options));
      result = await current.run(scope, () => work(options.isPrepared === true ? prepared(client) : client));
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => {
        broken ??= failure;
      });
      throw asGatewayError(error);
    }
    const { command } = await client.query('COMMIT').catch((failure: Error) => {
      if (!isConnectionFailure(failure)) throw failure;
      broken ??= failure;
      throw new Error('the connection broke while a transaction was being committed', { cause: failure });
    });
    if (command !== 'COMMIT') throw new Error('rolled back: the work went on after a statement that failed');
    return result;
  } finally {
    scope.open = false;
    // One that broke may have more to say; the pool only listens to those it keeps.
    if (broken === undefined) client.off('error', onError);
    client.release(broken);
  }
}

/** One round trip: a simple query of several statements. */
function beginStatement({ lockTimeoutMs, statementTimeoutMs, setWise = false }: TransactionOptions): string {
  const statements = ['BEGIN'];
  if (lockTimeoutMs !== undefined) statements.push(`SET LOCAL lock_timeout = ${Math.trunc(lockTimeoutMs)}`);
  if (statementTimeoutMs !== undefined) {
    statements.push(`SET LOCAL statement_timeout = ${Math.trunc(statementTimeoutMs)}`);
  }
  // Ten thousand rows with their bodies are sorted and joined in memory.
  if (setWise) statements.push("SET LOCAL enable_nestloop = off; SET LOCAL work_mem = '64MB'");
  return statements.join('; ');
}
