import type { z } from 'zod';
import type {
  AnalyticsQuery,
  CacheAnalyticsAnswer,
  CostAnalyticsAnswer,
  DurationAnalyticsAnswer,
  DurationAnalyticsQuery,
  FailureAnalyticsAnswer,
  FailureAnalyticsQuery,
  ItemAnalyticsAnswer,
  RetryAnalyticsAnswer,
  TokenAnalyticsAnswer,
} from '../../contracts/analytics.ts';
import { countItems, countRetries, measureStages, sumCosts, sumTokens } from '../../db/analytics.ts';
import { listTopFailures, listTopRefusals } from '../../db/analytics-failures.ts';
import type { AnalyticsFilter, AnalyticsGroupName } from '../../db/analytics-filter.ts';
import { jobScopeOf } from '../../db/job-scope.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import {
  presentCache,
  presentCosts,
  presentDurations,
  presentFailure,
  presentItems,
  presentRefusal,
  presentRetries,
  presentTokens,
} from '../presentation/analytics.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now'>;

/** Who asks, and what for. A key of a tenant is answered about its own jobs; one of the gateway about everybody's. */
export interface AnalyticsRequest<Query extends AnalyticsQuery = AnalyticsQuery> {
  readonly principal: Principal;
  readonly query: Query;
}

const BY_MODEL = ['provider', 'model'] as const;
const BY_ENDPOINT = ['endpoint', 'model'] as const;

export async function reportItems(dependencies: Dependencies, request: AnalyticsRequest): Promise<ItemAnalyticsAnswer> {
  const { filter, groups, envelope } = read(dependencies, request, []);
  return { data: (await countItems(dependencies.db.pool, filter, groups)).map(presentItems), ...envelope };
}

export async function reportCosts(dependencies: Dependencies, request: AnalyticsRequest): Promise<CostAnalyticsAnswer> {
  const { filter, groups, envelope } = read(dependencies, request, []);
  return { data: (await sumCosts(dependencies.db.pool, filter, groups)).map(presentCosts), ...envelope };
}

export async function reportTokens(
  dependencies: Dependencies,
  request: AnalyticsRequest,
): Promise<TokenAnalyticsAnswer> {
  const { filter, groups, envelope } = read(dependencies, request, BY_MODEL);
  return { data: (await sumTokens(dependencies.db.pool, filter, groups)).map(presentTokens), ...envelope };
}

export async function reportCache(
  dependencies: Dependencies,
  request: AnalyticsRequest,
): Promise<CacheAnalyticsAnswer> {
  const { filter, groups, envelope } = read(dependencies, request, BY_MODEL);
  return { data: (await sumTokens(dependencies.db.pool, filter, groups)).map(presentCache), ...envelope };
}

export async function reportRetries(
  dependencies: Dependencies,
  request: AnalyticsRequest,
): Promise<RetryAnalyticsAnswer> {
  const { filter, groups, envelope } = read(dependencies, request, []);
  return { data: (await countRetries(dependencies.db.pool, filter, groups)).map(presentRetries), ...envelope };
}

export async function reportDurations(
  dependencies: Dependencies,
  request: AnalyticsRequest<z.infer<typeof DurationAnalyticsQuery>>,
): Promise<DurationAnalyticsAnswer> {
  const { filter, groups, envelope } = read(dependencies, request, []);
  const times = await measureStages(dependencies.db.pool, filter, groups, request.query.of);
  return { data: times.map(presentDurations), ...envelope };
}

export async function reportFailures(
  dependencies: Dependencies,
  request: AnalyticsRequest<z.infer<typeof FailureAnalyticsQuery>>,
): Promise<FailureAnalyticsAnswer> {
  const { filter, groups, envelope } = read(dependencies, request, BY_ENDPOINT);
  const { top } = request.query;
  const failures = await listTopFailures(dependencies.db.pool, filter, groups, top);
  const refusals = await listTopRefusals(dependencies.db.pool, filter, groups, top);
  return { data: failures.map(presentFailure), refusals: refusals.map(presentRefusal), ...envelope };
}

function read(
  { now }: Pick<Dependencies, 'now'>,
  { principal, query }: AnalyticsRequest,
  byDefault: readonly AnalyticsGroupName[],
): { filter: AnalyticsFilter; groups: readonly AnalyticsGroupName[]; envelope: Envelope } {
  const [from, to] = [query.from ?? null, query.to ?? null];
  return {
    filter: {
      scope: jobScopeOf(principal),
      isCustomer: principal.role === 'customer',
      tenantId: query.tenant_id ?? null,
      projectId: query.project_id ?? null,
      customerId: query.customer_id ?? null,
      apiKeyId: query.api_key_id ?? null,
      jobKind: query.job_kind ?? null,
      endpoint: query.endpoint ?? null,
      provider: query.provider ?? null,
      model: query.model ?? null,
      from,
      to,
    },
    groups: query.group_by ?? byDefault,
    envelope: { from, to, as_of: now().toISOString() },
  };
}

type Envelope = Pick<ItemAnalyticsAnswer, 'from' | 'to' | 'as_of'>;
