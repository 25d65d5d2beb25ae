import type pg from 'pg';
import type { AdmissionFacts, BudgetFact, ItemGroup } from '../domain/admission.ts';
import { DEFAULT_ALIASES, type ModelAliases } from '../domain/model-alias.ts';
import { parseNumeric } from '../domain/money.ts';
import type { JobRow } from './job-rows.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** First day of total budgets. */
const EPOCH = '1970-01-01';

/** Everything a verdict needs, in a few small queries whatever the job's size. */
export async function loadAdmissionFacts(db: Queryable, job: JobRow, at: Date): Promise<AdmissionFacts> {
  const groups = await loadGroups(db, job);
  return {
    endpoint: job.endpoint,
    requestedModel: job.requestedModel,
    aliases: { ...DEFAULT_ALIASES, ...(await loadAliases(db, job.tenantId)) },
    groups,
    maxCost: job.maxCost,
    budgets: await loadBudgetFacts(db, job, at),
    currency: job.currency,
    at,
  };
}

async function loadGroups(db: Queryable, job: JobRow): Promise<ItemGroup[]> {
  const { rows } = await db.query(
    `SELECT requested_model, features, token_class, items, bytes, largest_bytes, input_tokens, output_tokens, uncapped_items
     FROM job_item_groups WHERE job_id = $1 AND manifest_no = $2`,
    [job.key.uuid, job.manifestNo],
  );
  return rows.map((row) => ({
    requestedModel: row.requested_model,
    features: row.features,
    tokenClass: row.token_class,
    items: row.items,
    bytes: Number(row.bytes),
    largestBytes: row.largest_bytes,
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    uncappedItems: row.uncapped_items,
  }));
}

async function loadAliases(db: Queryable, tenantId: string): Promise<ModelAliases> {
  const { rows } = await db.query<{ aliases: ModelAliases }>('SELECT aliases FROM tenants WHERE tenant_id = $1', [
    tenantId,
  ]);
  if (rows[0] === undefined) throw new Error(`no tenant ${tenantId}`);
  return rows[0].aliases;
}

/** The budgets of every level the job belongs to, in the order in which they are locked. */
export async function loadBudgetFacts(db: Queryable, job: JobRow, at: Date): Promise<BudgetFact[]> {
  const { rows } = await db.query(
    `SELECT b.budget_id, b.scope, b.scope_id, b.period, to_char(p.period_start, 'YYYY-MM-DD') AS period_start,
       b.limit_amount, coalesce(s.held, 0) AS held, coalesce(s.settled, 0) AS settled
     FROM budgets b JOIN tenants t ON t.tenant_id = b.tenant_id
     CROSS JOIN LATERAL (
       SELECT CASE WHEN b.period = 'total' THEN $5::date ELSE date_trunc('month', $4::timestamptz AT TIME ZONE t.time_zone)::date END AS period_start
     ) p
     LEFT JOIN budget_periods s ON s.budget_id = b.budget_id AND s.period_start = p.period_start
     WHERE b.tenant_id = $1 AND ((b.scope = 'tenant' AND b.scope_id = $1) OR (b.scope = 'project' AND b.scope_id = $2)
       OR (b.scope = 'customer' AND b.scope_id = $3))
     ORDER BY b.budget_id`,
    [job.tenantId, job.projectId, job.customerId, at, EPOCH],
  );
  return rows.map((row) => ({
    budgetId: row.budget_id,
    scope: row.scope,
    scopeId: row.scope_id,
    period: row.period,
    periodStart: row.period_start,
    limit: parseNumeric(row.limit_amount),
    held: parseNumeric(row.held),
    settled: parseNumeric(row.settled),
  }));
}
