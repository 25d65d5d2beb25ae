import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyLedger } from '../../../ledger/verify.ts';
import { insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/postgres.ts';
import { type PlayedLine, playedJob, refund, settleLines } from './played-jobs.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function line(itemNo: number, state: 'completed' | 'failed' = 'completed'): PlayedLine {
  return {
    itemNo,
    state,
    code: state === 'failed' ? 'provider_server_error' : null,
    tokens: [100, 0, 0, 10, 0],
    estimated: false,
    amount: 13_500_000n,
    customerAmount: null,
  };
}

async function settledJob() {
  const job = await playedJob(database.db, await insertTenant(database.db));
  await settleLines(database.db, job, 1, [line(1), line(2), line(4, 'failed')]);
  const differences = async () =>
    (await verifyLedger(database.db, { jobId: job.jobId })).differences.filter(({ subject }) =>
      /rollup|estimates/.test(subject),
    );
  expect(await differences()).toEqual([]);
  const alter = (sql: string) => database.db.pool.query(sql, [job.key.uuid]);
  return { job, differences, alter, today: new Date().toISOString().slice(0, 10) };
}

test('a rollup that was altered by hand is named with what it should be', async () => {
  const { job, differences, alter, today } = await settledJob();
  await alter('UPDATE job_rollups SET items = items + 1, amount = amount - 0.5 WHERE job_id = $1 AND state = 3');
  const subject = `${job.jobId} rollup of ${today}: openai/gpt-4o-mini failed provider_server_error`;
  expect(await differences()).toEqual([
    { subject, check: 'items', found: '2', expected: '1' },
    { subject, check: 'amount', found: '-0.4999865', expected: '0.0000135' },
  ]);
});

test('a rollup that is missing is named, and one of nothing', async () => {
  const { differences, alter } = await settledJob();
  await alter('DELETE FROM job_rollups WHERE job_id = $1 AND state = 3');
  expect((await differences()).find(({ check }) => check === 'items')).toMatchObject({ found: '0', expected: '1' });
  await alter(`INSERT INTO job_rollups (job_id, day, provider, model, state, failure_class, error_code, is_retry, output_tokens)
    VALUES ($1, '2026-01-31', 'openai', 'other', 2, '', '', true, 4)`);
  expect((await differences()).filter(({ subject }) => subject.includes('2026-01-31'))).toEqual([
    {
      subject: expect.stringContaining('rollup of 2026-01-31: openai/other completed retried'),
      check: 'output_tokens',
      found: '4',
      expected: '0',
    },
  ]);
});

test('a refund is in the rollup of its item, and missed where it is not', async () => {
  const { job, differences, alter } = await settledJob();
  await refund(database.db, job, 2);
  await refund(database.db, job, 2);
  expect(await differences()).toEqual([]);
  await alter('UPDATE job_rollups SET refunded_amount = 0, customer_refunded_amount = 0 WHERE job_id = $1');
  expect((await differences()).map(({ check, found, expected }) => [check, found, expected])).toEqual([
    ['refunded_amount', '0.00', '0.0000135'],
    ['customer_refunded_amount', '0.00', '0.0000135'],
  ]);
});

test("parts of an estimate that are not the job's whole are named", async () => {
  const { differences, alter } = await settledJob();
  await alter('UPDATE job_estimates SET items = items + 1 WHERE job_id = $1');
  expect(await differences()).toMatchObject([{ check: 'items', found: '9', expected: '8' }]);
});
