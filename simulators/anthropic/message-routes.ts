import type { Route } from '../endpoint.ts';
import { newId } from '../state.ts';
import { invalid, invalidRequest, refusal } from './errors.ts';
import { itemError, readItem } from './item.ts';
import { messageOf } from './message.ts';
import { modelList } from './models.ts';
import { pageOf } from './page.ts';
import type { Params } from './prompt.ts';
import type { AnthropicSimulator } from './simulator.ts';
import { API_VERSIONS, versionOf } from './versions.ts';

const RETRY_AFTER = { 'retry-after': '1' };

/** `POST /v1/messages`, with the same replies and directives as inside a batch, and `GET /v1/models`. */
export function messageRoutes({ state, clock, options }: Pick<AnthropicSimulator, 'state' | 'clock' | 'options'>) {
  const message: Route<Params> = {
    name: 'messages.create',
    async read(context) {
      const body: unknown = await context.req.json().catch(() => undefined);
      if (typeof body !== 'object' || body === null || Array.isArray(body)) {
        throw invalidRequest('The request body is not valid JSON.');
      }
      const input = body as Params;
      return { input, facts: { model: input['model'] } };
    },
    async act({ context, input: params }) {
      if (params['stream'] === true) throw refusal(invalid('stream: this simulator does not stream'));
      const attempt = newId('');
      const version = versionOf(context.req.raw.headers) ?? API_VERSIONS[0];
      const { item, claim } = await readItem(params, { attempt, version, isBatch: false }, state.attempts);
      claim();
      await clock.sleep(options().replyLatencyMs);
      const error = itemError(item);
      if (error !== undefined) throw refusal(error, error.status === 429 ? RETRY_AFTER : {});
      return { status: 200, json: messageOf(item, attempt) };
    },
  };

  const models: Route<Record<string, string>> = {
    name: 'models.list',
    read: async (context) => ({ input: context.req.query(), facts: {} }),
    act: async ({ input }) => ({ status: 200, json: pageOf(modelList(), input) }),
  };

  return { message, models };
}
