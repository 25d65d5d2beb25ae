import type { z } from '@hono/zod-openapi';
import { allow, OPERATOR_ROLES, TENANT_ROLES } from '../../middleware/allow.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';

/** Tenants’ keys see their own jobs, those of the gateway everybody’s. */
const middleware = allow({ roles: [...TENANT_ROLES, ...OPERATOR_ROLES], scope: 'usage:read' });

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
