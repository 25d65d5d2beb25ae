import { parseDirectives } from '../directives.ts';
import type { Route } from '../endpoint.ts';
import { newId } from '../state.ts';
import { invalidRequest, notFound } from './errors.ts';
import { modelList } from './models.ts';
import { type Body, ENDPOINTS, type Endpoint, readRequest } from './prompt.ts';
import { readJson } from './read-json.ts';
import { replyTo } from './replies.ts';
import type { OpenAiSimulator } from './simulator.ts';

const ROUTE_NAMES: Readonly<Record<Endpoint, string>> = {
  '/v1/chat/completions': 'chat.completions.create',
  '/v1/responses': 'responses.create',
  '/v1/embeddings': 'embeddings.create',
  '/v1/completions': 'completions.create',
  '/v1/moderations': 'moderations.create',
};

/** The endpoints that answer at once, with the same replies and directives as inside a batch. */
export function modelRoutes(simulator: OpenAiSimulator) {
  const { state, clock } = simulator;

  const answer = (endpoint: Endpoint): Route<Body> => ({
    name: ROUTE_NAMES[endpoint],
    async read(context) {
      const input = await readJson(context);
      return { input, facts: { model: input['model'] } };
    },
    async act({ input: body, note }) {
      const model = body['model'] ?? (endpoint === '/v1/moderations' ? 'omni-moderation-latest' : undefined);
      if (typeof model !== 'string') throw invalidRequest('you must provide a model parameter', 'model');
      if (model.startsWith('unknown-')) {
        throw notFound(`The model '${model}' does not exist or you do not have access to it.`, null, 'model_not_found');
      }
      if (body['stream'] === true) throw invalidRequest('This simulator does not stream.', 'stream', 'not_simulated');
      const attempt = newId('');
      const { prompt, material, onceKey } = await readRequest(endpoint, body);
      const found = parseDirectives(prompt);
      const directives = state.attempts.directivesFor(onceKey, found, attempt);
      state.attempts.claim(onceKey, found, attempt);
      const { embeddingDimensions, replyLatencyMs } = simulator.options();
      await clock.sleep(replyLatencyMs);
      const context = { now: clock.now(), embeddingDimensions, idSeed: attempt };
      const { status, body: json } = replyTo({ endpoint, body, prompt, material, directives }, context);
      note({ reply_id: typeof json === 'object' && json !== null && 'id' in json ? json.id : null });
      return { status, json, headers: status === 429 ? { 'retry-after': '1' } : {} };
    },
  });

  const models: Route<null> = {
    name: 'models.list',
    read: async () => ({ input: null, facts: {} }),
    act: async () => ({ status: 200, json: modelList() }),
  };

  return { models, answers: ENDPOINTS.map((endpoint) => ({ path: endpoint, route: answer(endpoint) })) };
}
