import { randomBytes } from 'node:crypto';
import type { Database } from '../../../db/client.ts';
import { newId, toUuid } from '../../../db/ids.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { ATTEMPT_TOKEN_BYTES, encodeAttemptToken } from '../../../domain/attempt-token.ts';
import { type ApiCaller, chatItem, type TestApi } from '../../harness/api.ts';
import { insertTenant } from '../../harness/jobs.ts';
import { endJob, settleItems } from '../../harness/settled-items.ts';
import { insertDocuments } from './document-rows.ts';

/** A tenant with at least one row of its own in every table that holds rows of tenants. */
export interface TenantWorld {
  readonly tenantId: string;
  readonly budgetId: string;
  readonly projectId: string;
  readonly customerId: string;
  /** A tenant admin's, and one bound to the project, which all that follows is of, and a customer's. */
  readonly admin: ApiCaller;
  readonly project: ApiCaller;
  readonly customer: ApiCaller;
  readonly keyId: string;
  readonly jobs: {
    readonly draft: string;
    readonly running: string;
    readonly ended: string;
    readonly cancelled: string;
  };
  /** Queued, and ended. */
  readonly taskIds: readonly string[];
  readonly documentId: string;
  readonly batchName: string;
  readonly scheduleId: string;
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly suspensionId: string;
  readonly credentialId: string;
  /** What names or holds something of the tenant: nobody else may be told any of it. */
  readonly marks: readonly string[];
  /** Of those, what names a thing of its project or customer: the tenant's other ones may not be told it either. */
  readonly narrowMarks: readonly string[];
}

/** What only operators may be told; planted in every column that holds such. */
export interface OperatorSecrets {
  readonly texts: readonly string[];
  /** What the gateway paid for, which customers of a partner with prices of its own are not told. */
  readonly upstreamAmount: string;
}

const ITEMS = 3;
const RECEIVER = 'https://hooks.example/';

/** `name` is a word that stands in everything the tenant says. */
export async function createWorld(db: Database, api: TestApi, name: string): Promise<TenantWorld> {
  const { tenantId, budgetId } = await insertTenant(db);
  if (budgetId === null) throw new Error('a tenant without a budget');
  const [projectId, customerId] = [`project-of-${name}`, `customer-of-${name}`];
  const ids = { tenantId, projectId, customerId };
  await insertAccounts(db, ids, name);
  const [admin, project, customer] = await Promise.all([
    api.caller('tenant_admin', { tenantId }),
    api.caller('project', { tenantId, projectId }),
    api.caller('customer', { tenantId, customerId }),
  ]);
  await project.post('/v1/webhooks/job-secret/rotate', {}, { 'idempotency-key': `key-of-${name}` });
  const endpoint = await project.post('/v1/webhooks', { url: `${RECEIVER}${name}` });
  const of = { customer_id: customerId, name: `job-of-${name}`, metadata: { note: `metadata-of-${name}` } };
  const job = () => newJob(project, of, name);
  const jobs = { draft: await job(), running: await job(), ended: await job(), cancelled: await job() };
  for (const jobId of [jobs.running, jobs.ended, jobs.cancelled])
    await mustBe(202, project.post(`/v1/batch-jobs/${jobId}/submit`));
  await project.post(`/v1/batch-jobs/${jobs.cancelled}/cancel`, { reason: `reason-of-${name}` });
  const reply = JSON.stringify({ choices: [`reply-of-${name}`] });
  const failure = { class: 'provider_error', code: 'provider_error', message: `message-of-${name}` };
  await settleItems(db, jobs.running, [{ itemNo: 1, body: reply }]);
  await settleItems(db, jobs.ended, [
    { itemNo: 1, body: reply },
    { itemNo: 2, body: reply },
    { itemNo: 3, state: 'failed', body: null, amount: '0', failure },
  ]);
  await endJob(db, jobs.ended, 'completed_with_errors');
  const schedule = await mustBe(
    201,
    project.post('/v1/batch-schedules', {
      name: `schedule-of-${name}`,
      schedule: { every_seconds: 3_600 },
      job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', customer_id: customerId },
      items: { manifest_of_job: jobs.ended },
    }),
  );
  await mustBe(202, project.post(`/v1/webhooks/${endpoint.json.endpoint_id}/test`));
  const task = { taskType: 'OPENAI', payload: { prompt: `prompt-of-${name}` }, webhookUrl: `${RECEIVER}${name}` };
  const queued = await mustBe(202, project.post('/v1/async/task', task));
  const ended = await mustBe(202, project.post('/v1/async/task', task));
  await mustBe(200, project.call('DELETE', `/v1/async/task/${ended.json.id}`));
  const taskIds: string[] = [queued.json.id, ended.json.id];
  await db.pool.query(
    "INSERT INTO task_replies (task_id, job_id, tenant_id, sealed, due_at) VALUES ($1, $2, $3, 'sealed', now() + interval '1 day')",
    [queued.json.id, toUuid('task', queued.json.id), tenantId],
  );
  const { documentId, batchName } = await insertDocuments(db, { ...ids, keyId: 'key' }, name);
  await mustBe(
    201,
    project.call('PUT', `/v1/batches/${batchName}/webhook?customer_id=${customerId}`, {
      json: { url: `${RECEIVER}${name}` },
    }),
  );
  const suspensionId = newId('suspension');
  const credentialId = newId('credential');
  const rest = { ...ids, budgetId, scheduleId: schedule.json.schedule_id as string, suspensionId, credentialId, name };
  await insertTheRest(db, jobs, rest);
  const deliveries = await project.get('/v1/webhooks/deliveries');
  const keys = await db.pool.query<{ key_id: string }>(
    'SELECT key_id FROM api_keys WHERE tenant_id = $1 ORDER BY key_id',
    [tenantId],
  );
  const narrowMarks = [
    ...Object.values(jobs),
    ...[...taskIds, documentId, batchName],
    ...[rest.scheduleId, endpoint.json.endpoint_id, deliveries.json.data[0].delivery_id],
    ...['job', 'metadata', 'prompt', 'reply', 'message', 'schedule', 'reason', 'item'].map(
      (what) => `${what}-of-${name}`,
    ),
    `${RECEIVER}${name}`,
  ];
  return {
    ...rest,
    admin,
    project,
    customer,
    keyId: keys.rows[0]?.key_id ?? '',
    jobs,
    taskIds,
    documentId,
    batchName,
    endpointId: endpoint.json.endpoint_id,
    deliveryId: deliveries.json.data[0].delivery_id,
    marks: [
      ...narrowMarks,
      tenantId,
      budgetId,
      projectId,
      customerId,
      `alias-of-${name}`,
      ...keys.rows.map((row) => row.key_id),
    ],
    narrowMarks,
  };
}

async function newJob(caller: ApiCaller, of: Record<string, unknown>, name: string): Promise<string> {
  const webhook = { url: `${RECEIVER}${name}` };
  const created = await mustBe(
    201,
    caller.post('/v1/batch-jobs', { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', ...of, webhook }),
  );
  const items = Array.from({ length: ITEMS }, (_, index) =>
    chatItem(`item-of-${name}-${index + 1}`, { messages: [{ role: 'user', content: `prompt-of-${name}` }] }),
  );
  await mustBe(200, caller.post(`/v1/batch-jobs/${created.json.job_id}/items`, { items }));
  return created.json.job_id;
}

async function mustBe(status: number, call: ReturnType<ApiCaller['call']>) {
  const answer = await call;
  if (answer.status !== status) throw new Error(`answered ${answer.status}: ${answer.text}`);
  return answer;
}

interface AccountIds {
  readonly tenantId: string;
  readonly projectId: string;
  readonly customerId: string;
}

async function insertAccounts(
  db: Database,
  { tenantId, projectId, customerId }: AccountIds,
  name: string,
): Promise<void> {
  await db.pool.query('UPDATE tenants SET aliases = $2 WHERE tenant_id = $1', [
    tenantId,
    JSON.stringify({ [`alias-of-${name}`]: ['openai/gpt-4o-mini'] }),
  ]);
  await db.pool.query('INSERT INTO projects (tenant_id, project_id, name) VALUES ($1, $2, $3)', [
    tenantId,
    projectId,
    name,
  ]);
  await db.pool.query('INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, $2, $3)', [
    tenantId,
    customerId,
    name,
  ]);
}

/** What no call of a tenant writes. */
async function insertTheRest(
  db: Database,
  jobs: TenantWorld['jobs'],
  ids: AccountIds &
    Pick<TenantWorld, 'budgetId' | 'scheduleId' | 'suspensionId' | 'credentialId'> & { readonly name: string },
): Promise<void> {
  const { pool } = db;
  const { tenantId, projectId, customerId, name } = ids;
  const { key } = await getJobRow(pool, jobs.ended);
  const byJob: readonly string[] = [
    `INSERT INTO artifacts (job_id, shard, attempt, file, kind, key) VALUES ($1, 1, 1, 1, 'output', 'planted-artifact')`,
    `INSERT INTO job_estimates (job_id, provider, model, items, estimated_amount) VALUES ($1, 'openai', 'gpt-4o-mini', 3, 1) ON CONFLICT DO NOTHING`,
    `INSERT INTO retry_waves (job_id, wave, items, needed_amount, left_amount, planned_at, due_at) VALUES ($1, 1, 1, 1, 1, now(), now())`,
    `INSERT INTO stage_times (job_id, shard, stage, since) VALUES ($1, 1, 'running', now())`,
    `INSERT INTO operator_acts (job_id, act, actor) VALUES ($1, 're_ingest', 'key_operator')`,
    `INSERT INTO unmatched_lines (job_id, shard, attempt, file, line, reason, raw) VALUES ($1, 1, 1, 1, 1, 'unknown_id', 'line')`,
    `INSERT INTO provider_adjustments (provider, provider_batch_id, invoice, job_id, shard, attempt, ordinal, billed_amount, charged_amount,
       amount, currency, account, actor) VALUES ('openai', $1::text, 'invoice', $1, 1, 1, 1, 2, 1, 1, 'USD', 'gateway', 'key_operator')`,
  ];
  for (const statement of byJob) await pool.query(statement.replaceAll('$1', `'${key.uuid}'`));
  for (const jobId of [jobs.running, jobs.ended]) await insertAttempt(db, jobId);
  await pool.query('INSERT INTO budget_alerts (budget_id, period_start, percent) VALUES ($1, now(), 80)', [
    ids.budgetId,
  ]);
  await pool.query(
    `INSERT INTO batch_schedule_runs (schedule_id, firing, scheduled_for, started_at) VALUES ($1, 'firing', now(), now())`,
    [ids.scheduleId],
  );
  await pool.query(
    `INSERT INTO legal_holds (hold_id, tenant_id, reason, set_by, set_at, lifted_at, lifted_by)
     VALUES ($1, $1, $2, 'key_operator', now(), now(), 'key_operator')`,
    [tenantId, name],
  );
  await pool.query(
    `INSERT INTO output_history (tenant_id, provider, model, endpoint, reasons, classes)
     VALUES ($1, 'openai', 'gpt-4o-mini', 'chat.completions', false, array_fill(0::bigint, ARRAY[32]))`,
    [tenantId],
  );
  await pool.query(
    `INSERT INTO refusal_rollups (tenant_id, day, project_id, customer_id, api_key_id, endpoint, requested_model, code, submissions, items)
     VALUES ($1, now(), $2, $3, 'key_x', 'chat.completions', 'openai/gpt-4o-mini', 'budget_exceeded', 1, 1)`,
    [tenantId, projectId, customerId],
  );
  await pool.query(
    `INSERT INTO spending_suspensions (suspension_id, tenant_id, scope, scope_id, job_id, overage_amount, currency, lifted_at, lifted_by)
     VALUES ($1, $2, 'tenant', $2, $3, 1, 'USD', now(), 'key_operator')`,
    [ids.suspensionId, tenantId, key.uuid],
  );
  await pool.query(
    `INSERT INTO price_overrides (override_id, tenant_id, provider, model, from_day, row, reason, created_by, withdrawn_at, withdrawn_by)
     VALUES ($1, $2, 'openai', 'gpt-4o-mini', '2026-01-01', '{}', $3, 'key_operator', now(), 'key_operator')`,
    [newId('priceOverride'), tenantId, name],
  );
  await pool.query(
    `INSERT INTO capability_overrides (override_id, tenant_id, provider, endpoint, model, is_allowed, reason, created_by, withdrawn_at, withdrawn_by)
     VALUES ($1, $2, 'openai', 'chat.completions', 'gpt-4o-mini', false, $3, 'key_operator', now(), 'key_operator')`,
    [newId('capabilityOverride'), tenantId, name],
  );
  await pool.query(
    `INSERT INTO provider_credentials (credential_id, provider, tenant_id, name, sealed_key, key_hint, created_by)
     VALUES ($1, 'openai', $2, $3, 'sealed', 'hint', 'key_operator')`,
    [ids.credentialId, tenantId, name],
  );
  await pool.query(
    `INSERT INTO sweep_findings (day, kind, subject, outcome, tenant_id, first_found_at, last_found_at)
     VALUES (now(), 'standing_still', $1, 'raised', $1, now(), now())`,
    [tenantId],
  );
  await pool.query(
    `INSERT INTO webhook_attempts (delivery_id, run, attempt, started_at)
     SELECT delivery_id, 1, 1, now() FROM webhook_deliveries WHERE tenant_id = $1`,
    [tenantId],
  );
}

async function insertAttempt(db: Database, jobId: string): Promise<void> {
  const { key } = await getJobRow(db.pool, jobId);
  const token = encodeAttemptToken(randomBytes(ATTEMPT_TOKEN_BYTES));
  await db.pool.query(
    `INSERT INTO batch_provider_metadata (job_id, shard, attempt, attempt_token, provider, provider_batch_id, endpoint, credential_id,
       native_status, item_count, create_outcome, expires_at)
     VALUES ($1, 1, 1, $2, 'openai', $2, 'chat.completions', 'default', 'in_progress', 3, 'accepted', now() + interval '1 day')`,
    [key.uuid, token],
  );
}

/** Puts what only operators may know into every column of the tenant's rows that holds such. */
export async function plantOperatorSecrets(db: Database, world: TenantWorld): Promise<OperatorSecrets> {
  const upstreamAmount = '0.777123';
  const texts = [
    'batch',
    'input',
    'output',
    'error',
    'operation',
    'region',
    'status',
    'pointer',
    'native',
    'item',
    'line',
  ].map((what) => `planted-${what}`);
  for (const jobId of [world.jobs.running, world.jobs.ended]) {
    const { key } = await getJobRow(db.pool, jobId);
    const { rows } = await db.pool.query<{ attempt_token: string }>(
      `UPDATE batch_provider_metadata SET provider_batch_id = 'planted-batch' || job_id, input_file_id = 'planted-input', output_file_id = 'planted-output',
         error_file_id = 'planted-error', operation_name = 'planted-operation', native_status = 'planted-status', credential_id = $2,
         native_errors = '[{"code": "planted-native"}]', native_request_counts = '{"planted-native": 1}', raw_error_pointer = 'planted-pointer'
       WHERE job_id = $1 RETURNING attempt_token`,
      [key.uuid, world.credentialId],
    );
    texts.push(...rows.map((row) => row.attempt_token));
    await db.pool.query(`UPDATE item_results SET native_error = 'planted-native' WHERE bucket = $1 AND job_id = $2`, [
      key.bucket,
      key.uuid,
    ]);
    await db.pool.query(
      `UPDATE unmatched_lines SET provider_item_id = 'planted-item', raw = 'planted-line' WHERE job_id = $1`,
      [key.uuid],
    );
  }
  return { texts: [...texts, world.credentialId], upstreamAmount };
}
