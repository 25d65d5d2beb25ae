import type pg from 'pg';
import type { AdmissionFacts, AllowList, BudgetFact, ItemGroup } from '../domain/admission-facts.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import type { CustomerPricing } from '../domain/customer-pricing.ts';
import { DEFAULT_ALIASES } from '../domain/default-aliases.ts';
import type { ModelAliases } from '../domain/model-alias.ts';
import { formatAmount, parseNumeric } from '../domain/money.ts';
import type { Provider } from '../domain/provider.ts';
import { findAccountSuspension } from './account-standing.ts';
import { periodStartOf } from './budget-periods.ts';
import { loadCatalogue } from './catalogue-overrides.ts';
import { findPricingOfCustomer } from './customer-pricing.ts';
import type { JobRow } from './job-rows.ts';
import { listOutputHistory } from './output-history.ts';
import { listSuspensionsOfJob } from './suspensions.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** Everything a verdict needs, in a few small queries whatever the job's size. `base` is the catalogue without overrides. */
export async function loadAdmissionFacts(
  db: Queryable,
  job: JobRow,
  at: Date,
  base: Catalogue,
): Promise<AdmissionFacts> {
  const { aliases, allowLists, margin } = await loadTenantSettings(db, job);
  return {
    mode: job.priceMode === 'batch' ? 'batch' : 'direct',
    jobId: job.jobId,
    catalogue: await loadCatalogue(db, base, job.tenantId),
    allowLists,
    region: job.region,
    providers: job.providers,
    endpoint: job.endpoint,
    requestedModel: job.requestedModel,
    aliases: { ...DEFAULT_ALIASES, ...aliases },
    groups: await loadItemGroups(db, job),
    calibration: null,
    outputHistory: await listOutputHistory(db, job),
    margin,
    maxCost: job.maxCost,
    maxCostPricing: await loadMaxCostPricing(db, job),
    budgets: await loadBudgetFacts(db, job, at),
    accountSuspension: await findAccountSuspension(db, job),
    suspensions: await listSuspensionsOfJob(db, job),
    currency: job.currency,
    at,
  };
}

/** A customer's own key says `max_cost` in the prices that customer is shown. */
async function loadMaxCostPricing(db: Queryable, job: JobRow): Promise<CustomerPricing | null> {
  if (job.maxCost === null || job.customerId === null) return null;
  const { rows } = await db.query<{ role: string }>('SELECT role FROM api_keys WHERE key_id = $1', [job.apiKeyId]);
  return rows[0]?.role === 'customer' ? findPricingOfCustomer(db, job) : null;
}

/** Of the job's manifest. */
export async function loadItemGroups(db: Queryable, job: JobRow): Promise<ItemGroup[]> {
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

interface TenantSettingsRow {
  readonly margin: string;
  readonly aliases: ModelAliases;
  readonly tenant_models: readonly string[] | null;
  readonly tenant_providers: readonly Provider[] | null;
  readonly key_models: readonly string[] | null;
  readonly key_providers: readonly Provider[] | null;
}

/** What the tenant's admins set, for it and for the key that made the job. */
async function loadTenantSettings(
  db: Queryable,
  { tenantId, apiKeyId }: JobRow,
): Promise<{ readonly aliases: ModelAliases; readonly allowLists: readonly AllowList[]; readonly margin: string }> {
  const { rows } = await db.query<TenantSettingsRow>(
    `SELECT t.aliases, t.estimate_margin AS margin, t.allowed_models AS tenant_models, t.allowed_providers AS tenant_providers,
       k.allowed_models AS key_models, k.allowed_providers AS key_providers
     FROM tenants t LEFT JOIN api_keys k ON k.key_id = $2
     WHERE t.tenant_id = $1`,
    [tenantId, apiKeyId],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`no tenant ${tenantId}`);
  return {
    aliases: row.aliases,
    margin: formatAmount(parseNumeric(row.margin)),
    allowLists: [
      { of: 'tenant', models: row.tenant_models, providers: row.tenant_providers },
      { of: 'key', models: row.key_models, providers: row.key_providers },
    ],
  };
}

/** The budgets of every level the job belongs to, in the order in which they are locked. */
export async function loadBudgetFacts(db: Queryable, job: JobRow, at: Date): Promise<BudgetFact[]> {
  const { rows } = await db.query(
    `SELECT b.budget_id, b.scope, b.scope_id, b.period, to_char(p.period_start, 'YYYY-MM-DD') AS period_start,
       b.limit_amount, coalesce(s.held, 0) AS held, coalesce(s.settled, 0) AS settled
     FROM budgets b JOIN tenants t ON t.tenant_id = b.tenant_id
     CROSS JOIN LATERAL (SELECT ${periodStartOf('b.period', '$4', 't.time_zone')} AS period_start) p
     LEFT JOIN budget_periods s ON s.budget_id = b.budget_id AND s.period_start = p.period_start
     WHERE b.tenant_id = $1 AND ((b.scope = 'tenant' AND b.scope_id = $1) OR (b.scope = 'project' AND b.scope_id = $2)
       OR (b.scope = 'customer' AND b.scope_id = $3))
     ORDER BY b.budget_id`,
    [job.tenantId, job.projectId, job.customerId, at],
  );
  return rows.map((row) => ({
    budgetId: row.budget_id,
    scope: row.scope,
    scopeId: row.scope_id,
    period: row.period,
    periodStart: row.period_start,
    limit: row.limit_amount === null ? null : parseNumeric(row.limit_amount),
    held: parseNumeric(row.held),
    settled: parseNumeric(row.settled),
  }));
}
