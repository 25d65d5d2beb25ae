import type { Endpoint } from '../../domain/provider.ts';
import type { EncodableItem } from '../provider.ts';
import { rejectedError } from './errors.ts';

/** Path of each endpoint in an input line and in the create body (openai SDK, `BatchCreateParams.endpoint`). */
const PATHS = {
  'chat.completions': '/v1/chat/completions',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
  moderations: '/v1/moderations',
} as const satisfies { readonly [endpoint in Endpoint]?: string };

/** Line ends to readers that go by Unicode; plain characters in JSON, and escaped the same text. */
const LINE_SEPARATORS = /[\u0085\u2028\u2029]/g;

/** Throws ProviderError `rejected` for an endpoint that OpenAI does not have. */
export function mapEndpoint(endpoint: Endpoint): (typeof PATHS)[keyof typeof PATHS] {
  if (endpoint in PATHS) return PATHS[endpoint as keyof typeof PATHS];
  throw rejectedError(`OpenAI has no batch endpoint for ${endpoint}`);
}

/** One line of a batch input file (OpenAI Batch API docs, "request input object"). */
export function encodeItem({ providerItemId, endpoint, model, request }: EncodableItem): string {
  const line = { custom_id: providerItemId, method: 'POST', url: mapEndpoint(endpoint), body: { ...request, model } };
  return JSON.stringify(line).replace(LINE_SEPARATORS, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
