import { createRoute } from '@hono/zod-openapi';
import { Health, Readiness } from '../../../contracts/health.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { checkReadiness } from '../../operations/check-readiness.ts';
import { jsonResponse, keylessErrorResponses } from '../../responses.ts';

const health = createRoute({
  tags: ['Health'],
  operationId: 'healthz',
  summary: 'Whether the process answers',
  method: 'get',
  path: '/healthz',
  responses: { 200: jsonResponse(Health, 'It does.'), ...keylessErrorResponses() },
});

const readiness = createRoute({
  tags: ['Health'],
  operationId: 'readyz',
  summary: 'Whether what the gateway needs can be reached',
  method: 'get',
  path: '/readyz',
  responses: {
    ...keylessErrorResponses(),
    200: jsonResponse(Readiness, 'All of it.'),
    503: jsonResponse(Readiness, 'Not all of it.'),
  },
});

/** For machines that watch the process; no key is asked for. */
export function healthRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  app.openapi(health, (c) => c.json({ status: 'ok' as const }, 200));
  app.openapi(readiness, async (c) => {
    const answer = await checkReadiness(dependencies);
    return c.json(answer, answer.status === 'ready' ? 200 : 503);
  });
  return app;
}
