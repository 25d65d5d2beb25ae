import { methodNotAllowed } from 'hono/method-not-allowed';
import { GatewayError } from '../domain/gateway-error.ts';
import type { ApiDependencies } from './dependencies.ts';
import { type ApiApp, type ApiContext, newApiApp } from './env.ts';
import { answerError, noSuchPath, toGatewayError } from './errors.ts';
import { accessLog } from './middleware/access-log.ts';
import { authenticate } from './middleware/authenticate.ts';
import { limitRequests } from './middleware/limit-requests.ts';
import { requestId } from './middleware/request-id.ts';
import { requireSmallHead } from './middleware/require-small-head.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { openApiDocument, registerSecurity } from './openapi.ts';
import { adminRouter } from './routes/admin/router.ts';
import { analyticsRouter } from './routes/analytics/router.ts';
import { auditRouter } from './routes/audit/router.ts';
import { allowTemporalUi, codecRouter } from './routes/codec/router.ts';
import { docsRouter } from './routes/docs/router.ts';
import { documentsRouter } from './routes/documents/router.ts';
import { healthRouter } from './routes/health/router.ts';
import { jobsRouter } from './routes/jobs/router.ts';
import { modelsRouter } from './routes/models/router.ts';
import { operatorRouter } from './routes/operator/router.ts';
import { providerWebhooksRouter } from './routes/provider-webhooks/router.ts';
import { schedulesRouter } from './routes/schedules/router.ts';
import { tasksRouter } from './routes/tasks/router.ts';
import { usageRouter } from './routes/usage/router.ts';
import { webhooksRouter } from './routes/webhooks/router.ts';

/** The whole HTTP surface over the given dependencies; it listens nowhere by itself. */
export function createApp(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  app.use(requestId, securityHeaders, accessLog(dependencies.logger), requireSmallHead);
  app.use('/codec/*', allowTemporalUi(dependencies), limitRequests(dependencies, authenticate(dependencies)));
  app.use('/v1/*', limitRequests(dependencies, authenticate(dependencies)));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => {
        c.header('Allow', methods.join(', '));
        return refuse(c, new GatewayError('method_not_allowed', `This path takes ${methods.join(', ')}.`));
      },
    }),
  );
  app.route('/', healthRouter(dependencies));
  app.route('/', jobsRouter(dependencies));
  app.route('/', tasksRouter(dependencies));
  app.route('/', documentsRouter(dependencies));
  app.route('/', schedulesRouter(dependencies));
  app.route('/', webhooksRouter(dependencies));
  app.route('/', usageRouter(dependencies));
  app.route('/', analyticsRouter(dependencies));
  app.route('/', modelsRouter(dependencies));
  app.route('/', operatorRouter(dependencies));
  app.route('/', adminRouter(dependencies));
  app.route('/', auditRouter(dependencies));
  app.route('/', codecRouter(dependencies));
  app.route('/', providerWebhooksRouter(dependencies));
  app.route('/', docsRouter());
  registerSecurity(app);
  app.get('/openapi.json', (c) => c.json(openApiDocument(app)));
  app.notFound((c) => refuse(c, noSuchPath()));
  app.onError((error, c) => {
    const told = toGatewayError(error);
    if (told.code === 'internal')
      dependencies.logger.error({ err: error, request_id: c.var.requestId }, 'request failed');
    return refuse(c, told);
  });
  return app;
}

function refuse(c: ApiContext, error: GatewayError): Response {
  const { status, envelope, headers } = answerError(error, {
    requestId: c.var.requestId,
    path: c.req.path,
  });
  return c.json(envelope, status, headers);
}
