import { createRoute } from '@hono/zod-openapi';
import { ResealReport } from '../../../contracts/reseal.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { reseal } from '../../operations/reseal.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly } from './paths.ts';

const resealRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_reseal',
  summary: 'Seal stored secrets anew under the current key',
  description:
    'After a new key was put in front of `BATCHGATE_ENCRYPTION_KEYS`. One call seals some hundreds: repeat it until the ' +
    'answer names the current key alone, and the old one can be removed.',
  method: 'post',
  path: '/v1/admin/encryption/reseal',
  middleware: adminsOnly,
  responses: {
    200: jsonResponse(ResealReport, 'What was sealed anew, and by which keys the rest is sealed.'),
    ...errorResponses(422),
  },
});

export function registerAdminEncryption(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(resealRoute, async (c) => c.json(await reseal(dependencies, { principal: c.var.principal }), 200));
}
