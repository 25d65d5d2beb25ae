import type { JobKind } from '../domain/job-kind.ts';
import type { JobScope } from './job-scope.ts';

/** SQL of each group, of facts f; a null is none, or one that does not part what is summed. */
const GROUP_COLUMNS = {
  tenant: 'f.tenant_id',
  project: 'f.project_id',
  customer: 'f.customer_id',
  api_key: 'f.api_key_id',
  job_kind: 'f.job_kind',
  endpoint: 'f.endpoint',
  requested_model: 'f.requested_model',
  provider: 'f.provider',
  model: 'f.model',
  day: "to_char(f.day, 'YYYY-MM-DD')",
} as const;
export type AnalyticsGroupName = keyof typeof GROUP_COLUMNS;

export type AnalyticsGroup = { readonly [name in AnalyticsGroupName]?: string | null };

/** What is summed, and for whom. Null filters nothing. */
export interface AnalyticsFilter {
  readonly scope: JobScope | null;
  /** For a key of a customer, which sees its own prices alone. */
  readonly isCustomer: boolean;
  readonly tenantId: string | null;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly apiKeyId: string | null;
  readonly jobKind: JobKind | null;
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  /** Days as YYYY-MM-DD in UTC: the first, and the first after. What has no day is of now, and always counted. */
  readonly from: string | null;
  readonly to: string | null;
}

/** The columns that every fact has, of `batch_jobs` j and the given SQL. */
export function factColumns(of: { readonly provider: string; readonly model: string; readonly day: string }): string {
  return `j.tenant_id, j.project_id, j.customer_id, j.api_key_id, j.kind AS job_kind, j.endpoint, j.requested_model,
    ${of.provider} AS provider, ${of.model} AS model, ${of.day} AS day`;
}

const EQUAL = [
  'tenant_id',
  'project_id',
  'customer_id',
  'tenant_id',
  'project_id',
  'customer_id',
  'api_key_id',
  'job_kind',
  'endpoint',
  'provider',
  'model',
].map((column, index) => `($${index + 1}::text IS NULL OR f.${column} = $${index + 1})`);

/** Holds for facts f that are asked for; its parameters are `filterValues`, from `$1` on. */
const FILTER = [
  ...EQUAL,
  '($12::date IS NULL OR f.day IS NULL OR f.day >= $12)',
  '($13::date IS NULL OR f.day IS NULL OR f.day < $13)',
].join(' AND ');
/** How many parameters FILTER has. */
export const FILTER_VALUES = 13;

export function filterValues({ scope, ...filter }: AnalyticsFilter): (string | null)[] {
  return [
    scope?.tenantId ?? null,
    scope?.projectId ?? null,
    scope?.customerId ?? null,
    filter.tenantId,
    filter.projectId,
    filter.customerId,
    filter.apiKeyId,
    filter.jobKind,
    filter.endpoint,
    filter.provider,
    filter.model,
    filter.from,
    filter.to,
  ];
}

/** One row for each combination of the groups' values: sums over all facts that are asked for. */
export function groupedStatement(
  facts: readonly string[],
  groups: readonly AnalyticsGroupName[],
  { measures, splitBy = [], having }: { measures: string; splitBy?: readonly string[]; having: string },
): string {
  const keys = [...groups.map((name) => `${GROUP_COLUMNS[name]} AS "group_${name}"`), ...splitBy];
  const ordinals = keys.map((_, index) => index + 1).join(', ');
  const grouping = ordinals === '' ? '' : `GROUP BY ${ordinals}`;
  const order = ordinals === '' ? '' : `ORDER BY ${ordinals}`;
  return `SELECT ${[...keys, measures].join(', ')} FROM (${facts.join(' UNION ALL ')}) f WHERE ${FILTER} ${grouping} HAVING ${having} ${order}`;
}

/** The group that a row of such a statement stands for. */
export function readGroup(groups: readonly AnalyticsGroupName[], row: object): AnalyticsGroup {
  const cells = new Map<string, unknown>(Object.entries(row));
  return Object.fromEntries(groups.map((name) => [name, (cells.get(`group_${name}`) as string | null) ?? null]));
}
