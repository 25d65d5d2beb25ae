import { afterAll, expect, test } from 'vitest';
import { ANALYTICS_STATEMENTS } from '../../../db/analytics.ts';
import { FAILURE_STATEMENTS } from '../../../db/analytics-failures.ts';
import { FILTER_VALUES } from '../../../db/analytics-filter.ts';
import { inScope } from '../../../db/row-scope.ts';
import { createTestDatabase, scopedDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const BY_MANY = ['tenant', 'customer', 'endpoint', 'provider', 'model', 'day'] as const;
const BULK = /(?:batch_items|item_requests|item_outcomes|item_results|ledger_entries|result_stage|unmatched_lines)/;

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

function relationsOf(node: PlanNode): string[] {
  const own = node['Relation Name'];
  return [...(own === undefined ? [] : [own]), ...(node.Plans ?? []).flatMap(relationsOf)];
}

async function relationsRead(statement: string, parameters: number): Promise<string[]> {
  const values = Array.from({ length: parameters }, (_, index) => (index === FILTER_VALUES ? 10 : null));
  const { rows } = await inScope({ kind: 'tenant', tenantId: 'tenant_x' }, () =>
    scopedDatabase(db).pool.query(`EXPLAIN (FORMAT JSON) ${statement}`, values),
  );
  return relationsOf(rows[0]['QUERY PLAN'][0].Plan);
}

test.each([
  ['items', ANALYTICS_STATEMENTS.items(BY_MANY), FILTER_VALUES],
  ['costs', ANALYTICS_STATEMENTS.costs(BY_MANY, false), FILTER_VALUES],
  ['costs of a customer', ANALYTICS_STATEMENTS.costs(BY_MANY, true), FILTER_VALUES],
  ['tokens', ANALYTICS_STATEMENTS.tokens(BY_MANY), FILTER_VALUES],
  ['retries', ANALYTICS_STATEMENTS.retries(BY_MANY), FILTER_VALUES],
  ['durations of jobs', ANALYTICS_STATEMENTS.durations(BY_MANY, 'jobs'), FILTER_VALUES],
  ['durations of shards', ANALYTICS_STATEMENTS.durations(BY_MANY, 'shards'), FILTER_VALUES],
  ['failures', FAILURE_STATEMENTS.failures(BY_MANY), FILTER_VALUES + 1],
  ['refusals', FAILURE_STATEMENTS.refusals(BY_MANY), FILTER_VALUES + 1],
])('%s reads rollups and no table that has a row for each item', async (_, statement, parameters) => {
  const relations = await relationsRead(statement, parameters);
  expect(relations.length).toBeGreaterThan(0);
  expect(relations.filter((name) => BULK.test(name))).toEqual([]);
});

test('a statement that does read items is seen to', async () => {
  expect((await relationsRead('SELECT count(*) FROM item_outcomes', 0)).some((name) => BULK.test(name))).toBe(true);
});
