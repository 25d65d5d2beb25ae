import { createHash } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import {
  type Answer,
  type IdempotentRequest,
  purgeIdempotencyKeys,
  withIdempotency,
} from '../../db/idempotency-keys.ts';
import { inTransaction } from '../../db/transaction.ts';
import { eventually } from '../harness/eventually.ts';
import { createTestDatabase } from '../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
await db.pool.query('CREATE TABLE effects (key text)');

const NOW = new Date('2026-08-19T10:00:00Z');
const later = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000);
const hash = (content: string) => createHash('sha256').update(content).digest();

function request(key: string, changes: Partial<IdempotentRequest> = {}): IdempotentRequest {
  return { owner: 'key_a', route: 'POST /v1/batch-jobs', key, contentHash: hash('content'), now: NOW, ...changes };
}

/** One call as an operation makes it: the effect and the key in one transaction. */
function call(wanted: IdempotentRequest, answer: Answer = { status: 201, body: '{"n":1}' }, during = async () => {}) {
  return inTransaction(db, (client) =>
    withIdempotency(client, wanted, async () => {
      await client.query('INSERT INTO effects VALUES ($1)', [wanted.key]);
      await during();
      return answer;
    }),
  );
}

async function effects(key: string): Promise<number> {
  return (await db.pool.query('SELECT FROM effects WHERE key = $1', [key])).rowCount ?? 0;
}

test('the same key and content has one effect and one answer', async () => {
  expect(await call(request('same'))).toEqual({ status: 201, body: '{"n":1}', replayed: false });
  expect(await call(request('same'), { status: 201, body: 'other' })).toEqual({
    status: 201,
    body: '{"n":1}',
    replayed: true,
  });
  expect(await effects('same')).toBe(1);
});

test('the same key with other content is a conflict and has no effect', async () => {
  await call(request('other'));
  const conflict = call(request('other', { contentHash: hash('different') }));
  await expect(conflict).rejects.toMatchObject({ code: 'idempotency_conflict' });
  expect(await effects('other')).toBe(1);
});

test.each([
  ['owner', { owner: 'key_b' }],
  ['route', { route: 'POST /v1/other' }],
])('a key of another %s is another key', async (name, changes) => {
  await call(request(name));
  expect(await call(request(name, changes))).toMatchObject({ replayed: false });
  expect(await effects(name)).toBe(2);
});

test('of twins at the same time one acts, the other waits and replays', async () => {
  const began = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const first = call(request('twin'), { status: 200, body: 'first' }, async () => {
    began.resolve();
    await mayEnd.promise;
  });
  await began.promise;
  const second = call(request('twin'), { status: 200, body: 'second' });
  await oneWaits();
  mayEnd.resolve();
  expect(await first).toEqual({ status: 200, body: 'first', replayed: false });
  expect(await second).toEqual({ status: 200, body: 'first', replayed: true });
  expect(await effects('twin')).toBe(1);
});

test('when the first of twins fails, the second takes its place', async () => {
  const began = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const first = call(request('failing'), { status: 200, body: 'first' }, async () => {
    began.resolve();
    await mayEnd.promise;
    throw new Error('refused');
  });
  await began.promise;
  const second = call(request('failing'), { status: 200, body: 'second' });
  await oneWaits();
  mayEnd.resolve();
  await expect(first).rejects.toThrow('refused');
  expect(await second).toEqual({ status: 200, body: 'second', replayed: false });
  expect(await effects('failing')).toBe(1);
});

test.each([500, 503])('an answer of %i is not kept', async (status) => {
  const key = `status ${status}`;
  expect(await call(request(key), { status, body: 'away' })).toMatchObject({ status, replayed: false });
  expect(await call(request(key))).toMatchObject({ status: 201, replayed: false });
});

test('a refusal that the effect returns is kept', async () => {
  await call(request('refused'), { status: 422, body: 'no' });
  expect(await call(request('refused'))).toEqual({ status: 422, body: 'no', replayed: true });
});

test('a key counts for 24 hours, then it is new, also for other content', async () => {
  await call(request('old'));
  expect(await call(request('old', { now: new Date(later(24).getTime() - 1) }))).toMatchObject({ replayed: true });
  const renewed = request('old', { now: later(24), contentHash: hash('different') });
  expect(await call(renewed, { status: 202, body: 'new' })).toEqual({ status: 202, body: 'new', replayed: false });
  expect(await call({ ...renewed, now: later(47) })).toEqual({ status: 202, body: 'new', replayed: true });
});

test('purges what is older than 24 hours and nothing else', async () => {
  await db.pool.query('DELETE FROM idempotency_keys');
  await call(request('purged'));
  await call(request('kept', { now: later(1) }));
  expect(await purgeIdempotencyKeys(db.pool, later(24))).toBe(1);
  const { rows } = await db.pool.query('SELECT key FROM idempotency_keys');
  expect(rows).toEqual([{ key: 'kept' }]);
});

async function oneWaits(): Promise<void> {
  await eventually(async () => {
    const { rows } = await db.pool.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return rows.length === 1;
  });
}
