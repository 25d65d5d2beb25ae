import { createRoute } from '@hono/zod-openapi';
import { LedgerVerification, LedgerVerifyQuery } from '../../../contracts/operator-job.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { verifyOneOrAll } from '../../operations/verify-ledger.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const route = createRoute({
  ...OPERATOR_ROUTE,
  operationId: 'operator_verify_ledger',
  summary: 'Compute the money anew, and name every difference',
  method: 'get',
  path: '/v1/operator/ledger/verify',
  middleware: operatorsOnly,
  request: { query: LedgerVerifyQuery },
  responses: { 200: jsonResponse(LedgerVerification, 'What was found.'), ...errorResponses(404) },
});

export function registerOperatorVerifyLedger(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => c.json(await verifyOneOrAll(dependencies, c.req.valid('query').job_id), 200));
}
