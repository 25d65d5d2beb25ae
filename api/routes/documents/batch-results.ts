import { createRoute, z } from '@hono/zod-openapi';
import { BatchResults, BatchResultsQuery, NamedBatchResultsQuery } from '../../../contracts/document.ts';
import { GatewayError } from '../../../domain/gateway-error.ts';
import { chooseType } from '../../accepts.ts';
import { RESULT_TYPES, resultsJson, resultsTable, resultsWorkbook } from '../../batch-result-forms.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp, ApiContext } from '../../env.ts';
import { openBatchResults } from '../../operations/batch-results.ts';
import { streamBytes, streamText } from '../../respond.ts';
import { errorResponses } from '../../responses.ts';
import { BY_PATH, BY_QUERY, BY_QUERY_DESCRIPTION, batchOf, DOCUMENT_ROUTE, tenantsOnly } from './paths.ts';

const [JSON_TYPE, CSV_TYPE, XLSX_TYPE] = RESULT_TYPES;

const SHARED = {
  ...DOCUMENT_ROUTE,
  method: 'get',
  middleware: tenantsOnly,
  responses: {
    200: {
      description: 'The batch and every document; as CSV or XLSX a table of all rows.',
      content: {
        [JSON_TYPE]: { schema: BatchResults },
        [CSV_TYPE]: { schema: z.string() },
        [XLSX_TYPE]: { schema: z.string().meta({ format: 'binary' }) },
      },
    },
    ...errorResponses(404, 406),
  },
} as const;

const byPath = createRoute({
  ...SHARED,
  operationId: 'get_batch_results',
  summary: 'The result of every document of a batch',
  description:
    'A stream of all of them, in the order of upload, with the three times of the batch: JSON, CSV or XLSX by `Accept`. In CSV a text ' +
    'that a spreadsheet would run as a formula has an apostrophe before it.',
  path: `${BY_PATH.path}/results`,
  request: { ...BY_PATH.request, query: BatchResultsQuery },
});

const byQuery = createRoute({
  ...SHARED,
  operationId: 'get_batch_results_by_query',
  summary: 'The same, by query',
  description: BY_QUERY_DESCRIPTION,
  path: `${BY_QUERY.path}/results`,
  request: { query: NamedBatchResultsQuery },
});

export function registerBatchResults(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(byPath, (c) => answer(c, dependencies, { ...c.req.valid('query'), ...c.req.valid('param') }));
  app.openapi(byQuery, (c) => answer(c, dependencies, c.req.valid('query')));
}

async function answer(c: ApiContext, dependencies: ApiDependencies, query: z.infer<typeof NamedBatchResultsQuery>) {
  const type = chooseType(c, RESULT_TYPES);
  if (type === null) throw new GatewayError('not_acceptable', `Results come as ${RESULT_TYPES.join(', ')}.`);
  const results = await openBatchResults(dependencies, batchOf(c, query));
  if (type === JSON_TYPE) return streamText(c, resultsJson(results), { 'Content-Type': type });
  if (type === XLSX_TYPE) return streamBytes(c, resultsWorkbook(results), fileHeaders(type, 'results.xlsx'));
  const table = resultsTable(results, query.byte_order_mark === 'true');
  return streamText(c, table, fileHeaders(`${type}; charset=utf-8; header=present`, 'results.csv'));
}

function fileHeaders(type: string, name: string): Record<string, string> {
  return { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` };
}
