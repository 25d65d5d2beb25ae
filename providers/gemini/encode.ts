import type { Endpoint } from '../../domain/provider.ts';
import { writeInputLine } from '../input-line.ts';
import type { EncodableItem } from '../provider.ts';
import { rejectedError } from '../reply-error.ts';
import { toGenerateContent } from './chat-request.ts';
import { toEmbedContent } from './embedding-request.ts';

/** A model's name as the catalogue or a caller writes it; it becomes part of a path, where dots would climb. */
const MODEL_NAME = /^(?:(?:models|tunedModels)\/)?[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The method that runs each endpoint (Gemini API reference, `models`). */
const METHODS = {
  'chat.completions': 'batchGenerateContent',
  generate_content: 'batchGenerateContent',
  embeddings: 'asyncBatchEmbedContent',
} as const satisfies { readonly [endpoint in Endpoint]?: string };

/** Path of the create. Throws ProviderError `rejected` for an endpoint or a model that Gemini cannot have. */
export function createPath(endpoint: Endpoint, model: string): string {
  if (!MODEL_NAME.test(model)) throw rejectedError('the name is not one of a Gemini model');
  return `/v1beta/${model.includes('/') ? model : `models/${model}`}:${METHODS[supported(endpoint)]}`;
}

/**
 * One line of a batch input file (Gemini batch docs). Throws UntranslatableRequest for a neutral request that Gemini cannot
 * be asked, ProviderError `rejected` for an endpoint it does not have.
 */
export function encodeItem({ providerItemId, endpoint, model, request }: EncodableItem): string {
  return writeInputLine({ key: providerItemId, request: toRequest(supported(endpoint), model, request) });
}

function toRequest(endpoint: keyof typeof METHODS, model: string, request: EncodableItem['request']): object {
  if (endpoint === 'chat.completions') return toGenerateContent(request, { model });
  if (endpoint === 'embeddings') return toEmbedContent(request);
  // The model is named in the path of the create, for the whole batch.
  const { model: _, ...own } = request;
  return own;
}

function supported(endpoint: Endpoint): keyof typeof METHODS {
  if (endpoint in METHODS) return endpoint as keyof typeof METHODS;
  throw rejectedError(`Gemini has no batch endpoint for ${endpoint}`);
}
