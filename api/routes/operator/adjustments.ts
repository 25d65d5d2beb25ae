import { createRoute } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { AdjustmentPreviewQuery, AdjustmentQuery, InvoiceCsv, InvoiceReport } from '../../../contracts/adjustment.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp, ApiEnv } from '../../env.ts';
import { readTextBody } from '../../middleware/read-text-body.ts';
import { importInvoice, previewInvoice } from '../../operations/import-invoice.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const ADJUSTMENTS = '/v1/operator/adjustments';
const MAX_BODY_BYTES = 32 * 1024 ** 2;
const CSV = 'text/csv';

const takeCsv: MiddlewareHandler<ApiEnv>[] = [operatorsOnly, readTextBody(MAX_BODY_BYTES, CSV)];

const SHARED = {
  ...OPERATOR_ROUTE,
  method: 'post',
  middleware: takeCsv,
  responses: { 200: jsonResponse(InvoiceReport, 'The invoice against the ledger.'), ...errorResponses(413, 415) },
} as const;
const BODY = { body: { required: true, content: { [CSV]: { schema: InvoiceCsv } } } };

const previewRoute = createRoute({
  ...SHARED,
  operationId: 'operator_preview_adjustments',
  summary: 'Compare a provider’s invoice with what was charged',
  description: 'Changes nothing.',
  path: `${ADJUSTMENTS}/preview`,
  request: { query: AdjustmentPreviewQuery, ...BODY },
});

const importRoute = createRoute({
  ...SHARED,
  operationId: 'operator_import_adjustments',
  summary: 'Post the differences of a provider’s invoice',
  description:
    'Once for a batch and invoice: a repetition changes nothing, and goes on where an import broke off. Batches that are not ' +
    '`differs` in the preview are left as they are.',
  path: ADJUSTMENTS,
  request: { query: AdjustmentQuery, ...BODY },
});

export function registerOperatorAdjustments(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(previewRoute, async (c) => {
    const { invoice, charge_tenant: charge } = c.req.valid('query');
    const request = { csv: await c.req.text(), invoice, chargesTenant: charge === 'true' };
    return c.json(await previewInvoice(dependencies, request), 200);
  });
  app.openapi(importRoute, async (c) => {
    const { invoice, charge_tenant: charge } = c.req.valid('query');
    const request = { csv: await c.req.text(), invoice, chargesTenant: charge === 'true' };
    return c.json(await importInvoice(dependencies, { ...request, principal: c.var.principal }), 200);
  });
}
