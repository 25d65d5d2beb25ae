import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { createEndpoints, type Env, type JsonReply, sendJson } from '../endpoint.ts';
import type { Faults } from '../faults.ts';
import type { Journal } from '../journal.ts';
import { batchRoutes } from './batch-routes.ts';
import { createAnthropicDialect } from './dialect.ts';
import { errorOfStatus } from './errors.ts';
import { messageRoutes } from './message-routes.ts';
import type { AnthropicSimulator } from './simulator.ts';

/** Anthropic's API as far as batches need it, at the paths the official SDK uses below its base URL. */
export function createAnthropicApp(
  simulator: AnthropicSimulator,
  parts: { faults: Faults; journal: Journal; log: (message: string) => void },
): Hono<Env> {
  const app = new Hono<Env>();
  const dialect = createAnthropicDialect(simulator.clock);
  const endpoint = createEndpoints({ dialect, clock: simulator.clock, ...parts });
  const batches = batchRoutes(simulator);
  const { message, models } = messageRoutes(simulator);

  app.post('/v1/messages/batches', endpoint(batches.create));
  app.get('/v1/messages/batches', endpoint(batches.list));
  app.get('/v1/messages/batches/:id', endpoint(batches.retrieve));
  app.delete('/v1/messages/batches/:id', endpoint(batches.remove));
  app.post('/v1/messages/batches/:id/cancel', endpoint(batches.cancel));
  app.get('/v1/messages/batches/:id/results', endpoint(batches.results));
  app.post('/v1/messages', endpoint(message));
  app.get('/v1/models', endpoint(models));

  const answer = (outgoing: ServerResponse, reply: JsonReply) =>
    sendJson(outgoing, { ...reply, headers: { ...dialect.replyHeaders(), ...reply.headers } });
  app.notFound((c) => {
    answer(c.env.outgoing, errorOfStatus(404));
    return RESPONSE_ALREADY_SENT;
  });
  app.onError((error, c) => {
    parts.log(`${c.req.method} ${c.req.path}: ${error.stack}`);
    if (c.env.outgoing.headersSent) c.env.outgoing.destroy();
    else answer(c.env.outgoing, errorOfStatus(500));
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}
