import { createRoute } from '@hono/zod-openapi';
import {
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
  TokenAnalyticsQuery,
} from '../../../contracts/analytics.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import {
  reportCache,
  reportCosts,
  reportDurations,
  reportFailures,
  reportItems,
  reportRetries,
  reportTokens,
} from '../../operations/report-analytics.ts';
import { analyticsRoute } from './paths.ts';

const ITEMS = createRoute(
  analyticsRoute('items', 'Items by how they ended', { query: AnalyticsQuery, answer: ItemAnalyticsAnswer }),
);
const COSTS = createRoute(
  analyticsRoute('costs', 'Estimated against settled cost, and what is held', {
    query: AnalyticsQuery,
    answer: CostAnalyticsAnswer,
  }),
);
const TOKENS = createRoute(
  analyticsRoute('tokens', 'Tokens used', { query: TokenAnalyticsQuery, answer: TokenAnalyticsAnswer }),
);
const CACHE = createRoute(
  analyticsRoute('cache', 'How much of the input came from caches', {
    query: TokenAnalyticsQuery,
    answer: CacheAnalyticsAnswer,
  }),
);
const RETRIES = createRoute(
  analyticsRoute('retries', 'Retries and their success', { query: AnalyticsQuery, answer: RetryAnalyticsAnswer }),
);
const DURATIONS = createRoute(
  analyticsRoute('durations', 'Mean and 95th percentile of the time in each stage', {
    query: DurationAnalyticsQuery,
    answer: DurationAnalyticsAnswer,
  }),
);
const FAILURES = createRoute(
  analyticsRoute('failures', 'The most frequent failures of items and refusals of submissions', {
    query: FailureAnalyticsQuery,
    answer: FailureAnalyticsAnswer,
  }),
);

/** `/v1/analytics`: what the jobs that a key may see came to. */
export function analyticsRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  app.openapi(ITEMS, async (c) =>
    c.json(await reportItems(dependencies, { principal: c.var.principal, query: c.req.valid('query') }), 200),
  );
  app.openapi(COSTS, async (c) =>
    c.json(await reportCosts(dependencies, { principal: c.var.principal, query: c.req.valid('query') }), 200),
  );
  app.openapi(TOKENS, async (c) =>
    c.json(await reportTokens(dependencies, { principal: c.var.principal, query: c.req.valid('query') }), 200),
  );
  app.openapi(CACHE, async (c) =>
    c.json(await reportCache(dependencies, { principal: c.var.principal, query: c.req.valid('query') }), 200),
  );
  app.openapi(RETRIES, async (c) =>
    c.json(await reportRetries(dependencies, { principal: c.var.principal, query: c.req.valid('query') }), 200),
  );
  app.openapi(DURATIONS, async (c) =>
    c.json(await reportDurations(dependencies, { principal: c.var.principal, query: c.req.valid('query') }), 200),
  );
  app.openapi(FAILURES, async (c) =>
    c.json(await reportFailures(dependencies, { principal: c.var.principal, query: c.req.valid('query') }), 200),
  );
  return app;
}
