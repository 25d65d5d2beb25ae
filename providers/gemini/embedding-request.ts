import type { Content } from '@google/genai';
import type { JsonObject } from '../../domain/json-object.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { refuseOthers } from './refuse-members.ts';

/** The body of an embedContent call (Gemini API reference, `EmbedContentRequest`). */
export interface EmbedContentRequest {
  content: Content;
  outputDimensionality?: number;
}

/**
 * A request for an embedding in OpenAI's shape (openai SDK, `EmbeddingCreateParams`) as Gemini's, which embeds one text at
 * a time. Base64 is refused: the result does not tell what was asked for. Throws UntranslatableRequest, with the field.
 */
export function toEmbedContent(request: JsonObject): EmbedContentRequest {
  const format = request['encoding_format'] ?? 'float';
  if (format !== 'float') {
    throw new UntranslatableRequest('request.encoding_format', 'Gemini answers with numbers only');
  }
  refuseOthers(request, ['input', 'model', 'dimensions', 'encoding_format'], 'request');
  const content = { parts: [{ text: readInput(request['input']) }] };
  const dimensions = request['dimensions'] ?? null;
  if (dimensions === null) return { content };
  if (typeof dimensions === 'number') return { content, outputDimensionality: dimensions };
  throw new UntranslatableRequest('request.dimensions', 'must be a number');
}

function readInput(input: unknown): string {
  const inputs: unknown[] = Array.isArray(input) ? input : [input];
  const [text] = inputs;
  if (typeof text !== 'string') throw new UntranslatableRequest('request.input', 'Gemini embeds text, not token ids');
  if (inputs.length > 1) throw new UntranslatableRequest('request.input', 'Gemini embeds one text in a request');
  return text;
}
