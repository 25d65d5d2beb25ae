import { checkedApart, type FieldRules, inspectFields, nonEmptyText, positiveInteger, text } from './field-rules.ts';
import type { Findings } from './findings.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { addMediaUrl } from './media-input.ts';
import { FEATURE } from './request-features.ts';

/** OpenAI's embedding body (openai SDK, `EmbeddingCreateParams`). */
const EMBEDDING_RULES: FieldRules = new Map([
  ['input', checkedApart()],
  ['model', nonEmptyText()],
  ['dimensions', positiveInteger()],
  ['encoding_format', encodingFormat],
  ['user', text(FEATURE.END_USER)],
]);

/** OpenAI's moderation body (openai SDK, `ModerationCreateParams`). */
const MODERATION_RULES: FieldRules = new Map([
  ['input', checkedApart()],
  ['model', nonEmptyText()],
]);

/** OpenAI refuses more inputs in one embedding request (openai SDK, `EmbeddingCreateParams.input`). */
const MAX_EMBEDDING_INPUTS = 2_048;

/** Returns the number of texts to embed, which providers limit over a whole batch. */
export function inspectEmbeddings(request: JsonObject, findings: Findings): number {
  inspectFields(request, EMBEDDING_RULES, 'request', findings);
  const { input } = request;
  if (typeof input === 'string') return inspectEmbeddingInput(input, 'request.input', findings);
  if (!Array.isArray(input) || input.length === 0) {
    findings.problem('request.input', 'must be a string, a list of strings, token ids, or a list of lists of them');
    return 0;
  }
  if (isTokenList(input)) return inspectEmbeddingInput(input, 'request.input', findings);
  if (input.length > MAX_EMBEDDING_INPUTS) {
    findings.problem('request.input', `must hold at most ${MAX_EMBEDDING_INPUTS} inputs`);
  }
  if (input.length > 1) findings.feature(FEATURE.MULTIPLE_INPUTS, 'request', 'input');
  for (const [index, entry] of input.entries()) inspectEmbeddingInput(entry, `request.input[${index}]`, findings);
  return input.length;
}

export function inspectModerations(request: JsonObject, findings: Findings): void {
  inspectFields(request, MODERATION_RULES, 'request', findings);
  const { input } = request;
  if (typeof input === 'string') {
    findings.text(input);
    return;
  }
  if (!Array.isArray(input) || input.length === 0) {
    findings.problem('request.input', 'must be a string, a list of strings, or a list of content parts');
    return;
  }
  for (const [index, entry] of input.entries()) inspectModerationInput(entry, `request.input[${index}]`, findings);
}

function inspectEmbeddingInput(input: unknown, path: string, findings: Findings): number {
  if (typeof input === 'string' && input !== '') findings.text(input);
  else if (isTokenList(input)) {
    findings.feature(FEATURE.TOKEN_INPUT, path);
    findings.tokens(input.length);
  } else findings.problem(path, 'must be a non-empty string or a non-empty list of token ids');
  return 1;
}

function isTokenList(input: unknown): input is number[] {
  return Array.isArray(input) && input.length > 0 && input.every((token) => Number.isSafeInteger(token) && token >= 0);
}

function inspectModerationInput(input: unknown, path: string, findings: Findings): void {
  if (typeof input === 'string') {
    findings.text(input);
    return;
  }
  if (!isJsonObject(input)) {
    findings.problem(path, 'must be a string or a content part');
    return;
  }
  if (input['type'] === 'text' && typeof input['text'] === 'string') {
    findings.text(input['text']);
    return;
  }
  const url = findObject(input, 'image_url')?.['url'];
  if (input['type'] === 'image_url' && typeof url === 'string') {
    addMediaUrl('image', url, `${path}.image_url`, findings);
    return;
  }
  findings.problem(path, 'must be a text part or an image_url part');
}

/** Vectors as base64 text are what OpenAI alone answers with. */
function encodingFormat(value: unknown): number | string {
  if (value === 'base64') return FEATURE.PROVIDER_SPECIFIC;
  return value === 'float' ? 0 : 'must be float or base64';
}
