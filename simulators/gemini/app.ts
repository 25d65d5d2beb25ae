import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import type { Clock } from '../clock.ts';
import { createEndpoints, type Env, type Route, sendJson } from '../endpoint.ts';
import type { Faults } from '../faults.ts';
import type { Journal } from '../journal.ts';
import { batchRoutes } from './batch-routes.ts';
import { geminiDialect } from './dialect.ts';
import { errorOfStatus } from './errors.ts';
import { fileRoutes } from './file-routes.ts';
import { modelRoutes } from './model-routes.ts';
import type { GeminiSimulator } from './simulator.ts';
import { uploadRoutes } from './upload-routes.ts';
import { byVerb } from './verbs.ts';

/** Every path exists in both versions of the API; the SDK speaks to `v1` unless told otherwise. */
const API = '/:version{v1(?:beta)?}';

/** The Gemini Developer API as far as batches need it, at the paths the official SDK uses below its base URL. */
export function createGeminiApp(
  simulator: GeminiSimulator,
  parts: { clock: Clock; faults: Faults; journal: Journal; log?: (message: string) => void },
): Hono<Env> {
  const { log = () => undefined } = parts;
  const app = new Hono<Env>();
  const endpoint = createEndpoints({ dialect: geminiDialect, ...parts });
  const batches = batchRoutes(simulator);
  const files = fileRoutes(simulator);
  const upload = uploadRoutes(simulator);
  const models = modelRoutes(simulator);
  const download = byVerb({ download: endpoint(files.download) });
  const chunk = endpoint(upload.chunk);
  const start = endpoint(upload.start);
  const keys: Route<null> = {
    name: 'webhooks.keys',
    isPublic: true,
    read: async () => ({ input: null, facts: {} }),
    act: async () => ({ status: 200, json: simulator.signer.keySet() }),
  };

  app.get(`${API}/models`, endpoint(models.list));
  app.post(
    `${API}/models/:target`,
    byVerb({
      batchGenerateContent: endpoint(batches.create('generate', 'batchGenerateContent')),
      asyncBatchEmbedContent: endpoint(batches.create('embed', 'asyncBatchEmbedContent')),
      generateContent: endpoint(models.generate),
      embedContent: endpoint(models.embed),
      batchEmbedContents: endpoint(models.embedMany),
    }),
  );
  app.get(`${API}/batches`, endpoint(batches.list));
  app.get(`${API}/batches/:target`, byVerb({ '': endpoint(batches.retrieve) }));
  app.post(`${API}/batches/:target`, byVerb({ cancel: endpoint(batches.cancel) }));
  app.delete(`${API}/batches/:target`, byVerb({ '': endpoint(batches.remove) }));
  app.post(`/upload${API}/files`, (c, next) => (c.req.query('upload_id') === undefined ? start : chunk)(c, next));
  app.get(`${API}/files`, endpoint(files.list));
  app.get(`${API}/files/:target`, byVerb({ '': endpoint(files.get), download: endpoint(files.download) }));
  app.delete(`${API}/files/:target`, byVerb({ '': endpoint(files.remove) }));
  app.get(`/download${API}/files/:target`, download);
  app.get('/.well-known/jwks.json', endpoint(keys));

  app.notFound((c) => {
    sendJson(c.env.outgoing, errorOfStatus(404));
    return RESPONSE_ALREADY_SENT;
  });
  app.onError((error, c) => {
    log(`${c.req.method} ${c.req.path}: ${error.stack}`);
    if (c.env.outgoing.headersSent) c.env.outgoing.destroy();
    else sendJson(c.env.outgoing, errorOfStatus(500));
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}
