import { afterAll, beforeAll, expect, test } from 'vitest';
import { listItemUsage } from '../../../db/item-usage.ts';
import { getJobRow, type JobRow } from '../../../db/job-rows.ts';
import { inScope } from '../../../db/row-scope.ts';
import { listCorrections } from '../../../db/usage-corrections.ts';
import { listUsageJobs } from '../../../db/usage-jobs.ts';
import { WHOLE_WINDOW } from '../../../db/usage-window.ts';
import { parseAmount } from '../../../domain/money.ts';
import { createTestApi } from '../../harness/api.ts';
import { correct } from '../../harness/corrections.ts';
import { createTestDatabase, scopedDatabase } from '../../harness/postgres.ts';
import { settleItems } from '../../harness/settled-items.ts';

const JOBS = 5_000;
const ENTRIES = 50_000;

const { db, drop } = await createTestDatabase();
const api = createTestApi(db);
let job: JobRow;
/** Of a table that holds many rows here; another month's is empty, and best read whole. */
let scansBigTable: RegExp;
beforeAll(async () => {
  const caller = await api.caller();
  const jobId = await caller.submitted(2);
  await settleItems(db, jobId, [{ itemNo: 1 }, { itemNo: 2 }]);
  await correct(db, jobId, { itemNo: 1, amount: parseAmount('0.1') });
  job = await getJobRow(db.pool, jobId);
  const { bucket, uuid } = job.key;
  scansBigTable = new RegExp(`Seq Scan on (batch_jobs|(batch_items|item_outcomes|ledger_entries)_${bucket})`);
  await db.pool.query(
    `INSERT INTO batch_jobs (job_id, bucket, tenant_id, api_key_id, endpoint, requested_model, state, currency, item_count,
       created_at, submitted_at, completed_at)
     SELECT gen_random_uuid(), bucket, tenant_id, api_key_id, endpoint, requested_model, 'completed', currency, 1,
       now() - interval '90 days', now() - interval '90 days', now() - no * interval '20 minutes' - interval '2 days'
     FROM batch_jobs, generate_series(1, $2::int) no WHERE job_id = $1`,
    [uuid, JOBS],
  );
  await db.pool.query(
    `INSERT INTO ledger_entries (bucket, subject_id, item_no, event, ordinal, amount, actor, cause)
     SELECT $1, $2, no, 'batch.item.settled', 2, 0.1, 'gateway', 'result' FROM generate_series(3, $3::int) no`,
    [bucket, uuid, ENTRIES],
  );
  await db.pool.query(
    `INSERT INTO item_outcomes (bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens,
       cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, model)
     SELECT $1, $2, no, no, 1, 1, 2, '', '', 10, 0, 0, 0, 5, 0, false, 0.1, 'm' FROM generate_series(3, $3::int) no`,
    [bucket, uuid, ENTRIES],
  );
  await db.pool.query(
    `INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, custom_id, request_hash, request_bytes, features, estimated_tokens, estimated_output_tokens)
     SELECT $1, $2, no, 1, 'item-' || no, '\\x00', 1, 0, 1, 1 FROM generate_series(3, $3::int) no`,
    [bucket, uuid, ENTRIES],
  );
  await db.pool.query('ANALYZE batch_jobs, batch_items, ledger_entries, item_outcomes');
}, 60_000);
afterAll(drop);

/** Plans what a function asks in the scope of the job's tenant, as the api does, and answers it nothing. */
async function planOf(ask: (planner: Pick<typeof db.pool, 'query'>) => Promise<unknown>): Promise<string> {
  const plans: string[] = [];
  const query = async (text: string, values: unknown[]) => {
    const { pool } = scopedDatabase(db);
    const { rows } = await inScope({ kind: 'tenant', tenantId: job.tenantId }, () =>
      pool.query(`EXPLAIN (COSTS OFF) ${text}`, values),
    );
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return { rows: [], rowCount: 0 };
  };
  await ask({ query } as unknown as Pick<typeof db.pool, 'query'>);
  return plans.join('\n');
}

test('an incremental read finds its jobs by their end and by what was corrected, and scans no table', async () => {
  const window = {
    from: null,
    to: null,
    jobKind: null,
    written: { fromXid: '900000000', sinceAt: new Date(), toXid: '900000001' },
  };
  const scope = { tenantId: job.tenantId, projectId: null, customerId: null };
  const plan = await planOf((planner) => listUsageJobs(planner, scope, window, { afterUuid: null, limit: 1000 }));
  expect(plan).not.toMatch(scansBigTable);
  expect(plan).toContain('batch_jobs_tenant_id_completed_at_idx');
  expect(plan).toMatch(/ledger_entries_[0-9]+_written_by_idx/);
});

test('a page of items is a range of the order of settlement, each item looked up by its key', async () => {
  const plan = await planOf((planner) =>
    listItemUsage(planner, { ...job.key, customerId: null }, WHOLE_WINDOW, {
      afterSeq: 20_000,
      throughSeq: 25_000,
      limit: 1000,
    }),
  );
  expect(plan).not.toMatch(scansBigTable);
  expect(plan).toMatch(/item_outcomes_[0-9]+_job_id_seq_bucket_idx/);
  expect(plan).toMatch(/seq > 20000\) AND \(seq <= 25000/);
  expect(plan).toMatch(/Index Scan using batch_items_[0-9]+_pkey.*\n *Index Cond: .*item_no = o/);
});

test('a job’s corrections are found without its charges', async () => {
  const page = { after: null, limit: 1000 };
  const reading = { window: WHOLE_WINDOW, isCustomer: false };
  const plan = await planOf((planner) => listCorrections(planner, job.key, reading, page));
  expect(plan).not.toMatch(scansBigTable);
  expect(plan).toMatch(/ledger_entries_[0-9]+_subject_id_item_no_event_ordinal_idx/);
});
