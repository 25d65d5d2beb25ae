import { createHash } from 'node:crypto';
import type { Database } from '../../db/client.ts';
import { jobIdOf, newId, toUuid } from '../../db/ids.ts';
import { getJobRow, type JobRow } from '../../db/job-rows.ts';
import { ensurePartitions } from '../../db/partitions.ts';
import { findBucket } from '../../domain/bucket.ts';
import type { JobKind } from '../../domain/job-kind.ts';
import type { Endpoint } from '../../domain/provider.ts';

export interface TestTenant {
  readonly tenantId: string;
  readonly budgetId: string | null;
}

/** A tenant of its own, with a total budget unless `limit` is null. */
export async function insertTenant(
  db: Database,
  { limit = '1000' }: { limit?: string | null } = {},
): Promise<TestTenant> {
  const tenantId = newId('tenant');
  await ensurePartitions(db.pool, Date.now());
  await db.pool.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $1)', [tenantId]);
  if (limit === null) return { tenantId, budgetId: null };
  const budgetId = newId('budget');
  await db.pool.query(
    `INSERT INTO budgets (budget_id, tenant_id, scope, scope_id, period, limit_amount) VALUES ($1, $2, 'tenant', $2, 'total', $3)`,
    [budgetId, tenantId, limit],
  );
  return { tenantId, budgetId };
}

export interface TestJobOptions {
  /** A batch job unless said: a task has the standard price, and so has a run over documents. */
  readonly kind?: JobKind;
  readonly items?: number;
  readonly endpoint?: Endpoint;
  readonly model?: string;
  readonly state?: 'draft' | 'validating';
  readonly inputTokens?: number;
  /** The cap of each request; 0 for requests without one, whose body then has to be given. */
  readonly outputTokens?: number;
  readonly maxItemsPerShard?: number;
  readonly features?: number;
  readonly body?: (itemNo: number) => Record<string, unknown>;
  readonly deadline?: Date;
  readonly notBefore?: Date;
}

/** A job with items, written straight into the tables, by default submitted and awaiting its verdict. */
export async function insertJob(db: Database, { tenantId }: TestTenant, options: TestJobOptions = {}): Promise<JobRow> {
  const { items = 3, endpoint = 'chat.completions', model = 'openai/gpt-4o-mini', state = 'validating' } = options;
  const { inputTokens = 20, outputTokens = 100, features = 0 } = options;
  const body =
    options.body ??
    ((itemNo) => ({ messages: [{ role: 'user', content: `question ${itemNo}` }], max_tokens: outputTokens }));
  const kind = options.kind ?? 'batch';
  const made = newId('job');
  const [uuid, bucket] = [toUuid('job', made), findBucket(made)];
  if (uuid === null) throw new Error('a new job has a malformed id');
  const jobId = jobIdOf({ kind, uuid });
  await db.pool.query(
    `INSERT INTO batch_jobs (job_id, bucket, tenant_id, api_key_id, endpoint, requested_model, state, currency, submission_no, item_count,
       execution, created_at, submitted_at, deadline, not_before, kind, price_mode)
     VALUES ($1, $2, $3, 'key_test', $4, $5, $6, 'USD', $7, $8, $9, now(), now(), $10, $11, $12, $13)`,
    [
      uuid,
      bucket,
      tenantId,
      endpoint,
      model,
      state,
      state === 'draft' ? 0 : 1,
      items,
      JSON.stringify(options.maxItemsPerShard === undefined ? {} : { max_items_per_shard: options.maxItemsPerShard }),
      options.deadline ?? null,
      options.notBefore ?? null,
      kind,
      kind === 'batch' ? 'batch' : 'standard',
    ],
  );
  if (kind === 'task') await insertTaskRow(db, uuid);
  const numbers = Array.from({ length: items }, (_, index) => index + 1);
  const bodies = numbers.map((itemNo) => JSON.stringify(body(itemNo)));
  await db.pool.query(
    `INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, custom_id, request_hash, request_bytes, features, estimated_tokens, estimated_output_tokens)
     SELECT $1, $2, no, 1, 'row_' || no, hash, bytes, $6, $7, $8 FROM unnest($3::int[], $4::bytea[], $5::int[]) AS t (no, hash, bytes)`,
    [
      bucket,
      uuid,
      numbers,
      bodies.map((text) => createHash('sha256').update(text).digest()),
      bodies.map((text) => Buffer.byteLength(text)),
      features,
      inputTokens,
      outputTokens,
    ],
  );
  await db.pool.query(
    'INSERT INTO item_requests (bucket, job_id, item_no, body) SELECT $1, $2, no, body FROM unnest($3::int[], $4::text[]) AS t (no, body)',
    [bucket, uuid, numbers, bodies],
  );
  await db.pool.query(
    `INSERT INTO job_item_groups (job_id, manifest_no, requested_model, features, token_class, items, bytes, largest_bytes, input_tokens, output_tokens, uncapped_items)
     VALUES ($1, 1, '', $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      uuid,
      features,
      Math.floor(Math.log2(inputTokens)),
      items,
      bodies.reduce((sum, text) => sum + text.length, 0),
      Math.max(0, ...bodies.map((text) => text.length)),
      items * inputTokens,
      items * outputTokens,
      outputTokens === 0 ? items : 0,
    ],
  );
  return getJobRow(db.pool, jobId);
}

/** What a task has besides: queued, as it is when it was taken on. */
async function insertTaskRow(db: Database, uuid: string): Promise<void> {
  await db.pool.query(
    `INSERT INTO async_tasks (task_id, tenant_id, project_id, customer_id, task_type, priority, state, transitions, next_attempt_at, created_at)
     SELECT job_id, tenant_id, project_id, customer_id, 'OPENAI', 1, 'QUEUED', 1, created_at, created_at FROM batch_jobs WHERE job_id = $1`,
    [uuid],
  );
  await db.pool.query(
    `INSERT INTO task_transitions (task_id, transition_no, state, attempt, at)
     SELECT task_id, 1, 'QUEUED', 0, created_at FROM async_tasks WHERE task_id = $1`,
    [uuid],
  );
}
