import type { Endpoint } from '../../domain/provider.ts';
import { writeInputLine } from '../input-line.ts';
import type { EncodableItem } from '../provider.ts';
import { rejectedError } from '../reply-error.ts';

/** Path of each endpoint in an input line and in the create body (openai SDK, `BatchCreateParams.endpoint`). */
const PATHS = {
  'chat.completions': '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  moderations: '/moderations',
} as const satisfies { readonly [endpoint in Endpoint]?: string };
type Path = (typeof PATHS)[keyof typeof PATHS];

/** What OpenAI itself puts before a path; some compatible providers put something else, or nothing. */
export const OPENAI_PATH_PREFIX = '/v1';

/** Throws ProviderError `rejected` for an endpoint that OpenAI does not have. */
export function mapEndpoint<Prefix extends string>(endpoint: Endpoint, pathPrefix: Prefix): `${Prefix}${Path}` {
  if (endpoint in PATHS) return `${pathPrefix}${PATHS[endpoint as keyof typeof PATHS]}`;
  throw rejectedError(`OpenAI has no endpoint for ${endpoint}`);
}

/** How a provider of OpenAI's API departs from OpenAI itself. */
export interface Dialect {
  /** What stands before the path in the `url` of an input line. */
  readonly pathPrefix: string;
  readonly isOpenAi: boolean;
}
const OPENAI: Dialect = { pathPrefix: OPENAI_PATH_PREFIX, isOpenAi: true };

/** One line of a batch input file (OpenAI Batch API docs, "request input object"). */
export function encodeItem(item: EncodableItem, dialect: Dialect = OPENAI): string {
  const url = mapEndpoint(item.endpoint, dialect.pathPrefix);
  return writeInputLine({ custom_id: item.providerItemId, method: 'POST', url, body: toBody(item, dialect) });
}

/**
 * What an endpoint is sent, in a line and by itself. OpenAI's reasoning models refuse `max_tokens`, and all of its chat models take
 * `max_completion_tokens` in its place (openai SDK, `ChatCompletionCreateParams`); compatible providers may know the old name alone.
 */
export function toBody(
  { endpoint, request, model }: Pick<EncodableItem, 'endpoint' | 'request' | 'model'>,
  { isOpenAi }: Pick<Dialect, 'isOpenAi'>,
): object {
  const { max_tokens: limit, ...rest } = request;
  const isOldName = isOpenAi && endpoint === 'chat.completions' && limit !== undefined;
  if (!isOldName || (rest['max_completion_tokens'] ?? limit) !== limit) return { ...request, model };
  return { ...rest, max_completion_tokens: limit, model };
}
