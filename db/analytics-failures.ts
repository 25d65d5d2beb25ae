import type pg from 'pg';
import { REFUSAL_FACTS, rollupFacts } from './analytics-facts.ts';
import {
  type AnalyticsFilter,
  type AnalyticsGroup,
  type AnalyticsGroupName,
  FILTER_VALUES,
  filterValues,
  groupedStatement,
  readGroup,
} from './analytics-filter.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;
type Groups = readonly AnalyticsGroupName[];

/** Items of a group that did not complete for one reason. */
export interface FailureCount {
  readonly group: AnalyticsGroup;
  readonly failureClass: string;
  readonly code: string;
  readonly items: number;
}

/** Submissions of a group that were refused for one reason, and how many items that reason named. */
export interface RefusalCount {
  readonly group: AnalyticsGroup;
  readonly code: string;
  readonly submissions: number;
  readonly items: number;
}

/** The most frequent of each group, those first; the last parameter is how many. */
function topOfEach(statement: string, groups: Groups, most: readonly string[]): string {
  const keys = groups.map((name) => `"group_${name}"`);
  const partition = keys.length === 0 ? '' : `PARTITION BY ${keys.join(', ')}`;
  return `SELECT * FROM (SELECT *, row_number() OVER (${partition} ORDER BY ${most.join(', ')}) AS place FROM (${statement}) counted) placed
    WHERE place <= $${FILTER_VALUES + 1} ORDER BY ${[...keys, 'place'].join(', ')}`;
}

export const FAILURE_STATEMENTS = {
  failures: (groups: Groups) =>
    topOfEach(
      groupedStatement(
        [rollupFacts('r.failure_class, r.error_code, r.items', "r.error_code <> '' AND r.items > 0")],
        groups,
        {
          splitBy: ['f.failure_class', 'f.error_code'],
          measures: 'sum(f.items) AS items',
          having: 'sum(f.items) > 0',
        },
      ),
      groups,
      ['items DESC', 'error_code'],
    ),
  refusals: (groups: Groups) =>
    topOfEach(
      groupedStatement([REFUSAL_FACTS], groups, {
        splitBy: ['f.code'],
        measures: 'sum(f.submissions) AS submissions, sum(f.items) AS items',
        having: 'count(*) > 0',
      }),
      groups,
      ['submissions DESC', 'code'],
    ),
} as const;

export async function listTopFailures(
  db: Queryable,
  filter: AnalyticsFilter,
  groups: Groups,
  top: number,
): Promise<FailureCount[]> {
  const { rows } = await db.query<{ failure_class: string; error_code: string; items: string }>(
    FAILURE_STATEMENTS.failures(groups),
    [...filterValues(filter), top],
  );
  return rows.map((row) => ({
    group: readGroup(groups, row),
    failureClass: row.failure_class,
    code: row.error_code,
    items: Number(row.items),
  }));
}

export async function listTopRefusals(
  db: Queryable,
  filter: AnalyticsFilter,
  groups: Groups,
  top: number,
): Promise<RefusalCount[]> {
  const { rows } = await db.query<{ code: string; submissions: string; items: string }>(
    FAILURE_STATEMENTS.refusals(groups),
    [...filterValues(filter), top],
  );
  return rows.map((row) => ({
    group: readGroup(groups, row),
    code: row.code,
    submissions: Number(row.submissions),
    items: Number(row.items),
  }));
}
