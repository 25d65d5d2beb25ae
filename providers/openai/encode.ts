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

/** One line of a batch input file (OpenAI Batch API docs, "request input object"). */
export function encodeItem(
  { providerItemId, endpoint, model, request }: EncodableItem,
  pathPrefix: string = OPENAI_PATH_PREFIX,
): string {
  const url = mapEndpoint(endpoint, pathPrefix);
  const line = { custom_id: providerItemId, method: 'POST', url, body: toBody({ request, model }) };
  return writeInputLine(line);
}

/** What an endpoint is sent, in a line and by itself. */
export function toBody({ request, model }: Pick<EncodableItem, 'request' | 'model'>): object {
  return { ...request, model };
}
