import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../db/client.ts';
import { asGatewayError } from '../../db/errors.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { eventually } from '../harness/eventually.ts';
import { createTestDatabase } from '../harness/postgres.ts';

const { db, url, drop } = await createTestDatabase();
afterAll(drop);
await db.pool.query('CREATE TABLE counter (name text PRIMARY KEY, value integer NOT NULL)');
await db.pool.query("INSERT INTO counter VALUES ('a', 0), ('b', 0), ('isolated', 0), ('locked', 0), ('undone', 0)");
await db.pool.query(`
  CREATE TABLE fatal (pid integer);
  CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_terminate_backend(NEW.pid); RETURN NEW; END';
  CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON fatal DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION end_session()`);

async function counterValue(name: string): Promise<number> {
  const { rows } = await db.pool.query('SELECT value FROM counter WHERE name = $1', [name]);
  return rows[0].value;
}

/** Resolves when as many sessions wait for a lock. */
async function waiting(sessions: number): Promise<void> {
  await eventually(async () => {
    const { rows } = await db.pool.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return rows[0].n === sessions;
  });
}

test('commits what the work did and returns its result', async () => {
  const result = await inTransaction(db, async (client) => {
    await client.query("INSERT INTO counter VALUES ('committed', 7)");
    return 'done';
  });
  expect(result).toBe('done');
  expect(await counterValue('committed')).toBe(7);
});

test('undoes everything when the work throws, and passes the error on', async () => {
  const error = new Error('no');
  const run = inTransaction(db, async (client) => {
    await client.query("UPDATE counter SET value = 1 WHERE name = 'undone'");
    throw error;
  });
  await expect(run).rejects.toBe(error);
  expect(await counterValue('undone')).toBe(0);
});

test('refuses to end well after a failed statement that the work passed over', async () => {
  const run = inTransaction(db, async (client) => {
    await client.query("UPDATE counter SET value = 1 WHERE name = 'undone'");
    await client.query('SELECT 1 / 0').catch(() => {});
  });
  await expect(run).rejects.toThrow('rolled back');
  expect(await counterValue('undone')).toBe(0);
});

test('runs the loser of a deadlock again, so that both transactions happen', async () => {
  let runs = 0;
  const bothHaveOne = Promise.withResolvers<void>();
  const move = (first: string, second: string) =>
    inTransaction(db, async (client) => {
      runs += 1;
      await client.query('UPDATE counter SET value = value + 1 WHERE name = $1', [first]);
      if (runs === 2) bothHaveOne.resolve();
      await bothHaveOne.promise;
      await client.query('UPDATE counter SET value = value + 1 WHERE name = $1', [second]);
    });
  await Promise.all([move('a', 'b'), move('b', 'a')]);
  expect(runs).toBe(3);
  expect([await counterValue('a'), await counterValue('b')]).toEqual([2, 2]);
});

test('runs a transaction that could not be serialised again, and gives up after five times', async () => {
  let runs = 0;
  const run = inTransaction(db, async (client) => {
    runs += 1;
    await client.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
    await client.query("SELECT value FROM counter WHERE name = 'isolated'");
    // Another session changes the row between the read and the write, every time.
    await db.pool.query("UPDATE counter SET value = value + 1 WHERE name = 'isolated'");
    await client.query("UPDATE counter SET value = 100 WHERE name = 'isolated'");
  });
  await expect(run).rejects.toMatchObject({ code: '40001' });
  expect(runs).toBe(5);
  expect(await counterValue('isolated')).toBe(5);
});

test('is job_busy when a lock is not had in the time the caller gives, and the plain error otherwise', async () => {
  const holder = await db.pool.connect();
  await holder.query("BEGIN; SELECT FROM counter WHERE name = 'locked' FOR UPDATE");
  const take = (options: { lockTimeoutMs?: number }, setup = 'SELECT 1') =>
    inTransaction(
      db,
      async (client) => {
        await client.query(setup);
        await client.query("SELECT FROM counter WHERE name = 'locked' FOR UPDATE");
      },
      options,
    );
  try {
    await expect(take({ lockTimeoutMs: 20 })).rejects.toMatchObject({ name: 'GatewayError', code: 'job_busy' });
    await expect(take({}, "SET LOCAL lock_timeout = '20ms'")).rejects.toMatchObject({ code: '55P03' });
    const patient = take({ lockTimeoutMs: 20_000 });
    await waiting(1);
    await holder.query('COMMIT');
    await expect(patient).resolves.toBeUndefined();
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
});

test('a limit on statements counts for its transaction alone', async () => {
  await expect(
    inTransaction(db, (client) => client.query('SELECT pg_sleep(10)'), { statementTimeoutMs: 20 }),
  ).rejects.toMatchObject({ code: '57014' });
  const timeout = await inTransaction(db, (client) => client.query('SHOW statement_timeout'));
  expect(timeout.rows).toEqual([{ statement_timeout: '1min' }]);
});

test('refuses a transaction inside a transaction, but not one after it', async () => {
  const nested = inTransaction(db, () => inTransaction(db, async () => 'inner'));
  await expect(nested).rejects.toThrow('inside a transaction');
  await expect(inTransaction(db, async () => 'after')).resolves.toBe('after');
});

test('a connection that breaks during the work is dependency_unavailable, and the pool goes on', async () => {
  const run = inTransaction(db, async (client) => {
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    await db.pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await client.query("UPDATE counter SET value = 9 WHERE name = 'undone'");
  });
  await expect(run).rejects.toMatchObject({ code: 'dependency_unavailable' });
  expect(await counterValue('undone')).toBe(0);
});

test('a connection that breaks during COMMIT is no promise that nothing was done', async () => {
  const run = inTransaction(db, async (client) => {
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    // The trigger runs inside COMMIT and ends the session there.
    await client.query('INSERT INTO fatal VALUES ($1)', [rows[0].pid]);
  });
  const error = await run.catch(asGatewayError);
  expect(error).not.toBeInstanceOf(GatewayError);
  expect(error).toMatchObject({ message: expect.stringContaining('while a transaction was being committed') });
});

test('a database that cannot be reached is dependency_unavailable', async () => {
  const nowhere = new URL(url);
  nowhere.port = '1';
  const away = openDatabase({ url: nowhere.href, poolSize: 2, applicationName: 'test' });
  await expect(inTransaction(away, async () => 'never')).rejects.toMatchObject({ code: 'dependency_unavailable' });
  await away.close();
});

test('a prepared transaction plans each statement once on its connection, but for those that return all columns', async () => {
  const one = openDatabase({ url, poolSize: 1, applicationName: 'prepared' });
  const run = () =>
    inTransaction(
      one,
      async (client) => {
        await client.query('SELECT value FROM counter WHERE name = $1', ['a']);
        const { rows } = await client.query('SELECT * FROM counter WHERE name = $1', ['a']);
        return rows[0];
      },
      { isPrepared: true },
    );
  try {
    await run();
    await db.pool.query('ALTER TABLE counter ADD COLUMN added integer');
    expect(await run()).toEqual({ name: 'a', value: expect.any(Number), added: null });
    const { rows } = await one.pool.query(
      'SELECT statement, generic_plans + custom_plans AS runs FROM pg_prepared_statements',
    );
    expect(rows).toEqual([{ statement: 'SELECT value FROM counter WHERE name = $1', runs: '2' }]);
  } finally {
    await db.pool.query('ALTER TABLE counter DROP COLUMN IF EXISTS added');
    await one.close();
  }
});
