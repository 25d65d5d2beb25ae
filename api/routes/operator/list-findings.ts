import { createRoute } from '@hono/zod-openapi';
import { FindingList, FindingQuery } from '../../../contracts/finding.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { listSweepFindings } from '../../operations/list-findings.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const route = createRoute({
  ...OPERATOR_ROUTE,
  operationId: 'operator_list_findings',
  summary: 'What the sweeps found, and whether they could repair it',
  description: 'Kept for ninety days after it was found last.',
  method: 'get',
  path: '/v1/operator/findings',
  middleware: operatorsOnly,
  request: { query: FindingQuery },
  responses: { 200: jsonResponse(FindingList, 'The findings, newest first.'), ...errorResponses() },
});

export function registerOperatorListFindings(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => c.json(await listSweepFindings(dependencies, c.req.valid('query')), 200));
}
