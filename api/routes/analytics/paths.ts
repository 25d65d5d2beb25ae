import type { z } from '@hono/zod-openapi';
import { OPERATOR_ROLES, requireRole, TENANT_ROLES } from '../../middleware/require-role.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';

/** Tenants’ keys see their own jobs, those of the gateway everybody’s. */
const middleware = requireRole([...TENANT_ROLES, ...OPERATOR_ROLES]);

/** The declaration of `GET /v1/analytics/{kind}`. */
export function analyticsRoute<Kind extends string, Query extends z.ZodObject, Answer extends z.ZodType>(
  kind: Kind,
  summary: string,
  { query, answer }: { readonly query: Query; readonly answer: Answer },
) {
  return {
    tags: ['Analytics'],
    security: [{ bearer: [] }],
    operationId: `report_${kind}` as const,
    summary,
    method: 'get' as const,
    path: `/v1/analytics/${kind}` as const,
    middleware,
    request: { query },
    responses: { 200: jsonResponse(answer, 'Sums by group.'), ...errorResponses() },
  };
}
