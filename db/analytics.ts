import type pg from 'pg';
import { itemStateCode } from '../domain/item-state.ts';
import { type Amount, parseNumeric } from '../domain/money.ts';
import { costFacts, pendingFacts, rollupFacts, stageFacts } from './analytics-facts.ts';
import {
  type AnalyticsFilter,
  type AnalyticsGroup,
  type AnalyticsGroupName,
  filterValues,
  groupedStatement,
  readGroup,
} from './analytics-filter.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;
type Groups = readonly AnalyticsGroupName[];

const sumOfState = (state: 'completed' | 'failed' | 'expired' | 'cancelled') =>
  `coalesce(sum(f.items) FILTER (WHERE f.state = ${itemStateCode(state)}), 0) AS ${state}`;
const BY_STATE = (['completed', 'failed', 'expired', 'cancelled'] as const).map(sumOfState).join(', ');

/** A statement for each kind, with the parameters of `filterValues`. None reads a table that has a row for each item. */
export const ANALYTICS_STATEMENTS = {
  items: (groups: Groups) =>
    groupedStatement(
      [
        rollupFacts('r.state, r.items, r.is_retry, 0 AS pending', 'r.items > 0'),
        ...pendingFacts((pending) => `0::smallint, 0, false, ${pending}`),
      ],
      groups,
      {
        measures: `${BY_STATE}, sum(f.pending) AS pending, coalesce(sum(f.items) FILTER (WHERE f.is_retry), 0) AS retries`,
        having: 'sum(f.items) > 0 OR sum(f.pending) > 0',
      },
    ),
  costs: (groups: Groups, isCustomer: boolean) =>
    groupedStatement(costFacts(isCustomer), groups, {
      splitBy: ['f.currency'],
      measures: `sum(f.settled) AS settled, sum(f.refunded) AS refunded, sum(f.adjusted) AS adjusted, sum(f.held) AS held,
        sum(f.estimated) AS estimated, sum(f.ended_settled) AS ended_settled, count(DISTINCT f.ended_job)::int AS ended_jobs`,
      having: 'count(*) > 0',
    }),
  tokens: (groups: Groups) =>
    groupedStatement(
      [
        rollupFacts(
          'r.items, r.usage_estimated_items, r.input_tokens, r.cached_input_tokens, r.cache_write_tokens, r.output_tokens, r.reasoning_tokens',
          'r.items > 0',
        ),
      ],
      groups,
      {
        measures: `sum(f.items) AS items, sum(f.usage_estimated_items) AS usage_estimated_items, sum(f.input_tokens) AS input_tokens,
          sum(f.cached_input_tokens) AS cached_input_tokens, sum(f.cache_write_tokens) AS cache_write_tokens,
          sum(f.output_tokens) AS output_tokens, sum(f.reasoning_tokens) AS reasoning_tokens`,
        having: 'sum(f.items) > 0',
      },
    ),
  retries: (groups: Groups) =>
    groupedStatement([rollupFacts('r.state, r.items', 'r.is_retry AND r.items > 0')], groups, {
      measures: `sum(f.items) AS retries, ${BY_STATE}`,
      having: 'sum(f.items) > 0',
    }),
  durations: (groups: Groups, of: 'jobs' | 'shards') =>
    groupedStatement([stageFacts(of)], groups, {
      measures: `count(*)::int AS ended, ${['queued', 'running', 'finalizing']
        .map(
          (stage) =>
            `round(avg(f.${stage}_ms)) AS ${stage}_mean, percentile_disc(0.95) WITHIN GROUP (ORDER BY f.${stage}_ms) AS ${stage}_p95`,
        )
        .join(', ')}`,
      having: 'count(*) > 0',
    }),
} as const;

/** Rows of a group; sums are numbers. */
export type CountedGroup<Name extends string> = { readonly group: AnalyticsGroup } & {
  readonly [name in Name]: number;
};

const STATES = ['completed', 'failed', 'expired', 'cancelled'] as const;
const TOKENS = [
  'items',
  'usage_estimated_items',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;
const TIMES = [
  'queued_mean',
  'queued_p95',
  'running_mean',
  'running_p95',
  'finalizing_mean',
  'finalizing_p95',
] as const;

export type ItemCounts = CountedGroup<(typeof STATES)[number] | 'pending' | 'retries'>;
export type TokenSums = CountedGroup<(typeof TOKENS)[number]>;
export type RetryCounts = CountedGroup<(typeof STATES)[number] | 'retries'>;
/** Milliseconds, but for `ended`. */
export type StageDurations = CountedGroup<(typeof TIMES)[number] | 'ended'>;

export async function countItems(db: Queryable, filter: AnalyticsFilter, groups: Groups): Promise<ItemCounts[]> {
  return read(db, ANALYTICS_STATEMENTS.items(groups), filter, groups, [...STATES, 'pending', 'retries']);
}

export async function sumTokens(db: Queryable, filter: AnalyticsFilter, groups: Groups): Promise<TokenSums[]> {
  return read(db, ANALYTICS_STATEMENTS.tokens(groups), filter, groups, TOKENS);
}

export async function countRetries(db: Queryable, filter: AnalyticsFilter, groups: Groups): Promise<RetryCounts[]> {
  return read(db, ANALYTICS_STATEMENTS.retries(groups), filter, groups, [...STATES, 'retries']);
}

/** Of jobs that have ended, or of their shards. */
export async function measureStages(
  db: Queryable,
  filter: AnalyticsFilter,
  groups: Groups,
  of: 'jobs' | 'shards',
): Promise<StageDurations[]> {
  return read(db, ANALYTICS_STATEMENTS.durations(groups, of), filter, groups, [...TIMES, 'ended']);
}

/** What was settled in the window net of refunds, what jobs that ended in it were expected to cost and did, and what is held now. */
export interface CostSums {
  readonly group: AnalyticsGroup;
  readonly currency: string;
  readonly settled: Amount;
  readonly refunded: Amount;
  readonly adjusted: Amount;
  readonly held: Amount;
  readonly endedJobs: number;
  readonly estimated: Amount;
  readonly endedSettled: Amount;
}

export async function sumCosts(db: Queryable, filter: AnalyticsFilter, groups: Groups): Promise<CostSums[]> {
  const { rows } = await db.query<{
    currency: string;
    settled: string;
    refunded: string;
    adjusted: string;
    held: string;
    ended_jobs: number;
    estimated: string;
    ended_settled: string;
  }>(ANALYTICS_STATEMENTS.costs(groups, filter.isCustomer), filterValues(filter));
  return rows.map((row) => ({
    group: readGroup(groups, row),
    currency: row.currency,
    settled: parseNumeric(row.settled),
    refunded: parseNumeric(row.refunded),
    adjusted: parseNumeric(row.adjusted),
    held: parseNumeric(row.held),
    endedJobs: row.ended_jobs,
    estimated: parseNumeric(row.estimated),
    endedSettled: parseNumeric(row.ended_settled),
  }));
}

async function read<Name extends string>(
  db: Queryable,
  statement: string,
  filter: AnalyticsFilter,
  groups: Groups,
  names: readonly Name[],
): Promise<CountedGroup<Name>[]> {
  const { rows } = await db.query<{ [name in Name]: string | number }>(statement, filterValues(filter));
  return rows.map((row) => {
    const counts = Object.fromEntries(names.map((name) => [name, Number(row[name])])) as { [name in Name]: number };
    return { group: readGroup(groups, row), ...counts };
  });
}
