import type { Endpoint } from '../../domain/provider.ts';
import { writeInputLine } from '../input-line.ts';
import type { EncodableItem } from '../provider.ts';
import { rejectedError } from '../reply-error.ts';
import { toGenerateContent } from './chat-request.ts';
import { toEmbedContent } from './embedding-request.ts';

/** A model's name as the catalogue or a caller writes it; it becomes part of a path, where dots would climb. */
const MODEL_NAME = /^(?:(?:models|tunedModels)\/)?[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The methods that run each endpoint, a batch of requests and one by itself (Gemini API reference, `models`). */
const METHODS = {
  'chat.completions': { batch: 'batchGenerateContent', direct: 'generateContent' },
  generate_content: { batch: 'batchGenerateContent', direct: 'generateContent' },
  embeddings: { batch: 'asyncBatchEmbedContent', direct: 'embedContent' },
} as const satisfies { readonly [endpoint in Endpoint]?: object };

/** Path of the create. Throws ProviderError `rejected` for an endpoint or a model that Gemini cannot have. */
export function createPath(endpoint: Endpoint, model: string): string {
  return modelPath(model, METHODS[supported(endpoint)].batch);
}

/** Path of one request by itself. Throws as {@link createPath} does. */
export function directPath(endpoint: Endpoint, model: string): string {
  return modelPath(model, METHODS[supported(endpoint)].direct);
}

function modelPath(model: string, method: string): string {
  if (!MODEL_NAME.test(model)) throw rejectedError('the name is not one of a Gemini model');
  return `/v1beta/${model.includes('/') ? model : `models/${model}`}:${method}`;
}

/**
 * One line of a batch input file (Gemini batch docs). Throws UntranslatableRequest for a neutral request that Gemini cannot
 * be asked, ProviderError `rejected` for an endpoint it does not have.
 */
export function encodeItem({ providerItemId, endpoint, model, request }: EncodableItem): string {
  return writeInputLine({ key: providerItemId, request: toRequest({ endpoint, model, request }) });
}

/** What the method is sent, in a batch and by itself. Throws as {@link encodeItem} does. */
export function toRequest({ endpoint, model, request }: Pick<EncodableItem, 'endpoint' | 'model' | 'request'>): object {
  const known = supported(endpoint);
  if (known === 'chat.completions') return toGenerateContent(request, { model });
  if (known === 'embeddings') return toEmbedContent(request);
  // The model is named in the path.
  const { model: _, ...own } = request;
  return own;
}

function supported(endpoint: Endpoint): keyof typeof METHODS {
  if (endpoint in METHODS) return endpoint as keyof typeof METHODS;
  throw rejectedError(`Gemini has no endpoint for ${endpoint}`);
}
