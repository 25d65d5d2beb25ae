import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { createEndpoints, type Env, sendJson } from '../endpoint.ts';
import type { Faults } from '../faults.ts';
import type { Journal } from '../journal.ts';
import { batchRoutes } from './batch-routes.ts';
import { openAiDialect } from './dialect.ts';
import { errorBody, errorOfStatus } from './errors.ts';
import { fileRoutes } from './file-routes.ts';
import { modelRoutes } from './model-routes.ts';
import type { OpenAiSimulator } from './simulator.ts';

/** OpenAI's API as far as batches need it, at the paths the official SDK uses below its base URL. */
export function createOpenAiApp(
  simulator: OpenAiSimulator,
  parts: { faults: Faults; journal: Journal; log: (message: string) => void },
): Hono<Env> {
  const app = new Hono<Env>();
  const endpoint = createEndpoints({ dialect: openAiDialect, clock: simulator.clock, ...parts });
  const files = fileRoutes(simulator);
  const batches = batchRoutes(simulator);
  const { models, answers } = modelRoutes(simulator);

  app.post('/v1/files', endpoint(files.create));
  app.get('/v1/files', endpoint(files.list));
  app.get('/v1/files/:id', endpoint(files.retrieve));
  app.delete('/v1/files/:id', endpoint(files.remove));
  app.get('/v1/files/:id/content', endpoint(files.content));
  app.post('/v1/batches', endpoint(batches.create));
  app.get('/v1/batches', endpoint(batches.list));
  app.get('/v1/batches/:id', endpoint(batches.retrieve));
  app.post('/v1/batches/:id/cancel', endpoint(batches.cancel));
  app.get('/v1/models', endpoint(models));
  for (const { path, route } of answers) app.post(path, endpoint(route));

  app.notFound((c) => {
    const message = `Invalid URL (${c.req.method} ${c.req.path})`;
    sendJson(c.env.outgoing, { status: 404, json: errorBody({ message }) });
    return RESPONSE_ALREADY_SENT;
  });
  app.onError((error, c) => {
    parts.log(`${c.req.method} ${c.req.path}: ${error.stack}`);
    if (c.env.outgoing.headersSent) c.env.outgoing.destroy();
    else sendJson(c.env.outgoing, errorOfStatus(500));
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}
