import { createRoute } from '@hono/zod-openapi';
import { LedgerPage, LedgerQuery } from '../../../contracts/ledger-entry.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { listLedger } from '../../operations/list-ledger.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JOB, JOB_ROUTE, JobParams, usageReaders } from './paths.ts';

const route = createRoute({
  ...JOB_ROUTE,
  operationId: 'ledger',
  summary: 'Every event about the job’s money',
  method: 'get',
  path: `${JOB}/ledger`,
  middleware: usageReaders,
  request: { params: JobParams, query: LedgerQuery },
  responses: { 200: jsonResponse(LedgerPage, 'A page of entries.'), ...errorResponses(404) },
});

export function registerListLedger(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(route, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    const request = { principal: c.var.principal, jobId, query: c.req.valid('query') };
    return c.json(await listLedger(dependencies, request), 200);
  });
}
