import type { Context } from 'hono';
import { parseDirectives } from '../directives.ts';
import type { Env, JsonReply, Route } from '../endpoint.ts';
import { newId } from '../state.ts';
import { pageFacts } from './batch-routes.ts';
import { type RpcStatus, refusal, replyOfStatus, retryInfo } from './errors.ts';
import { type Asked, readWholeRequest } from './item.ts';
import { type ModelTask, modelViews, requireModel } from './models.ts';
import { isObject, type JsonObject } from './proto-json.ts';
import { readJson } from './read-json.ts';
import { type ItemReply, replyTo } from './replies.ts';
import type { GeminiSimulator } from './simulator.ts';
import { targetOf } from './verbs.ts';

interface Call {
  asked: Asked;
  body: JsonObject;
}

/** The methods that answer at once, with the same replies and directives as inside a batch. */
export function modelRoutes(simulator: GeminiSimulator) {
  const { state, clock } = simulator;

  const answer = async (request: unknown, asked: Asked): Promise<ItemReply> => {
    const attempt = newId('');
    const { onceKey, ...read } = await readWholeRequest(request, asked);
    const found = parseDirectives(read.prompt);
    const directives = state.attempts.directivesFor(onceKey, found, attempt);
    state.attempts.claim(onceKey, found, attempt);
    const { embeddingDimensions } = simulator.options();
    return replyTo({ ...asked, ...read, directives }, { embeddingDimensions, idSeed: attempt });
  };
  const answerLate = async (request: unknown, asked: Asked): Promise<ItemReply> => {
    const reply = await answer(request, asked);
    await clock.sleep(simulator.options().replyLatencyMs);
    return reply;
  };
  const readCall = (task: ModelTask, method: string) => async (context: Context<Env>) => {
    const model = requireModel(targetOf(context), task, method);
    const { body } = await readJson(context, simulator.options().maxInlineBytes);
    return { input: { asked: { task, model }, body }, facts: { model } };
  };

  const generate: Route<Call> = {
    name: 'models.generateContent',
    read: readCall('generate', 'generateContent'),
    act: async ({ input: { body, asked } }) => replyOf(await answerLate(body, asked)),
  };

  const embed: Route<Call> = {
    name: 'models.embedContent',
    read: readCall('embed', 'embedContent'),
    act: async ({ input: { body, asked } }) => replyOf(await answerLate(body, asked)),
  };

  const embedMany: Route<Call> = {
    name: 'models.embedContent',
    read: readCall('embed', 'batchEmbedContents'),
    async act({ input: { body, asked } }) {
      const { requests } = body;
      if (!Array.isArray(requests)) throw refusal('INVALID_ARGUMENT', '* BatchEmbedContentsRequest.requests: not set');
      const replies = await Promise.all(requests.map((request) => answer(request, asked)));
      await clock.sleep(simulator.options().replyLatencyMs);
      const failed = replies.find((reply) => 'error' in reply);
      if (failed !== undefined) return replyOf(failed);
      const embeddings = replies.map((reply) => ('response' in reply ? embeddingOf(reply.response) : {}));
      return { status: 200, json: { embeddings } };
    },
  };

  const list: Route<Record<string, string>> = {
    name: 'models.list',
    read: async (context) => ({ input: context.req.query(), facts: pageFacts(context.req.query()) }),
    act: async () => ({ status: 200, json: { models: modelViews() } }),
  };

  return { generate, embed, embedMany, list };
}

function replyOf(reply: ItemReply): JsonReply {
  return 'response' in reply ? { status: 200, json: reply.response } : replyOfStatus(withHint(reply.error));
}

function withHint(error: RpcStatus): RpcStatus {
  return error.code === 8 ? { ...error, details: [retryInfo(1)] } : error;
}

function embeddingOf(response: object): unknown {
  return isObject(response) ? response['embedding'] : {};
}
