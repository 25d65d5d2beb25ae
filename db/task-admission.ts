import type pg from 'pg';
import type { AccountSuspension } from '../domain/account-suspension.ts';
import type { AdmissionFacts, AllowList, SuspensionFact } from '../domain/admission-facts.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { DEFAULT_ALIASES } from '../domain/default-aliases.ts';
import type { JsonObject } from '../domain/json-object.ts';
import type { ModelAliases } from '../domain/model-alias.ts';
import { formatAmount, parseNumeric } from '../domain/money.ts';
import type { OutputHistory } from '../domain/output-history.ts';
import type { OveragePolicy } from '../domain/overage.ts';
import type { Endpoint, Provider } from '../domain/provider.ts';
import { readTenantPolicy, type TenantPolicy } from '../domain/tenant-policy.ts';
import { loadCatalogue } from './catalogue-overrides.ts';
import type { JobScope } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** What decides over a task before it is one, but for its own request and the budgets. */
export interface TaskAdmission {
  readonly policy: TenantPolicy;
  readonly overagePolicy: OveragePolicy;
  /** Open tasks of the tenant, as of just now. */
  readonly openTasks: number;
  readonly facts: Pick<
    AdmissionFacts,
    | 'catalogue'
    | 'allowLists'
    | 'aliases'
    | 'outputHistory'
    | 'margin'
    | 'accountSuspension'
    | 'suspensions'
    | 'currency'
  >;
}

interface AdmissionRow {
  readonly policy: JsonObject;
  readonly overage_policy: OveragePolicy;
  readonly aliases: ModelAliases;
  readonly margin: string;
  readonly currency: string;
  readonly tenant_models: readonly string[] | null;
  readonly tenant_providers: readonly Provider[] | null;
  readonly key_models: readonly string[] | null;
  readonly key_providers: readonly Provider[] | null;
  readonly tenant_is_suspended: boolean;
  readonly tenant_reason: string | null;
  readonly customer_is_suspended: boolean | null;
  readonly customer_reason: string | null;
  readonly suspensions: readonly SuspensionFact[];
  readonly history: readonly OutputHistory[];
  readonly has_overrides: boolean;
  readonly open_tasks: number;
}

/** In one query, since it is asked for every task; two more where the catalogue is overridden. `base` is the catalogue without that. */
export async function loadTaskAdmission(
  db: Queryable,
  { owner, apiKeyId, endpoint }: { readonly owner: JobScope; readonly apiKeyId: string; readonly endpoint: Endpoint },
  base: Catalogue,
): Promise<TaskAdmission> {
  const { tenantId, projectId, customerId } = owner;
  const { rows } = await db.query<AdmissionRow>(SELECT_ADMISSION, [
    tenantId,
    projectId,
    customerId,
    apiKeyId,
    endpoint,
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error(`no tenant ${tenantId}`);
  return {
    policy: readTenantPolicy(row.policy),
    overagePolicy: row.overage_policy,
    openTasks: row.open_tasks,
    facts: {
      catalogue: row.has_overrides ? await loadCatalogue(db, base, tenantId) : base,
      allowLists: allowListsOf(row),
      aliases: { ...DEFAULT_ALIASES, ...row.aliases },
      outputHistory: row.history.map((history) => ({ ...history, classes: history.classes.map(Number) })),
      margin: formatAmount(parseNumeric(row.margin)),
      accountSuspension: suspensionOf(row),
      suspensions: row.suspensions,
      currency: row.currency,
    },
  };
}

const SELECT_ADMISSION = `
  SELECT t.policy, t.overage_policy, t.aliases, t.estimate_margin AS margin, t.currency,
    t.allowed_models AS tenant_models, t.allowed_providers AS tenant_providers,
    k.allowed_models AS key_models, k.allowed_providers AS key_providers,
    t.suspended_at IS NOT NULL AS tenant_is_suspended, t.suspension_reason AS tenant_reason,
    c.suspended_at IS NOT NULL AS customer_is_suspended, c.suspension_reason AS customer_reason,
    coalesce((SELECT jsonb_agg(jsonb_build_object('suspensionId', s.suspension_id, 'scope', s.scope, 'scopeId', s.scope_id)
        ORDER BY s.created_at, s.suspension_id)
      FROM spending_suspensions s
      WHERE s.tenant_id = $1 AND s.lifted_at IS NULL AND ((s.scope = 'tenant' AND s.scope_id = $1)
        OR (s.scope = 'project' AND s.scope_id = $2) OR (s.scope = 'customer' AND s.scope_id = $3))), '[]') AS suspensions,
    coalesce((SELECT jsonb_agg(jsonb_build_object('provider', h.provider, 'model', h.model, 'reasons', h.reasons, 'classes', h.classes))
      FROM output_history h WHERE h.tenant_id = $1 AND h.endpoint = $5), '[]') AS history,
    EXISTS (SELECT FROM price_overrides p WHERE p.withdrawn_at IS NULL AND (p.tenant_id IS NULL OR p.tenant_id = $1))
      OR EXISTS (SELECT FROM capability_overrides p WHERE p.withdrawn_at IS NULL AND (p.tenant_id IS NULL OR p.tenant_id = $1))
      AS has_overrides,
    coalesce((SELECT s.in_use FROM task_slots s WHERE s.tenant_id = $1), 0) AS open_tasks
  FROM tenants t
  LEFT JOIN api_keys k ON k.key_id = $4
  LEFT JOIN customers c ON c.tenant_id = t.tenant_id AND c.customer_id = $3
  WHERE t.tenant_id = $1`;

function allowListsOf(row: AdmissionRow): AllowList[] {
  return [
    { of: 'tenant', models: row.tenant_models, providers: row.tenant_providers },
    { of: 'key', models: row.key_models, providers: row.key_providers },
  ];
}

function suspensionOf(row: AdmissionRow): AccountSuspension | null {
  if (row.tenant_is_suspended) return { of: 'tenant', reason: row.tenant_reason };
  return row.customer_is_suspended === true ? { of: 'customer', reason: row.customer_reason } : null;
}
