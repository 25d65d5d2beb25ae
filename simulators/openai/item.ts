import type { Directives } from '../directives.ts';
import type { Fate } from '../fates.ts';
import { ERROR_DIRECTIVES, errorBody, errorOfDirective, type OpenAiError } from './errors.ts';
import { type Body, type Endpoint, INPUT_FIELD } from './prompt.ts';

/** One request to a model, from an input line or sent by itself. */
export interface Item {
  endpoint: Endpoint;
  body: Body;
  prompt: string;
  /** What rows are taken from; see readAsked. */
  material: string;
  /** Those that hold for this attempt. */
  directives: Directives;
}

export function fateOf(item: Item): Fate {
  if (item.directives.expire) return 'hangs';
  if (item.directives.missing) return 'vanishes';
  return itemError(item) === undefined ? 'succeeds' : 'fails';
}

/** Models that reason take `max_completion_tokens` alone (openai SDK, `ChatCompletionCreateParams.max_tokens`). */
const REASONS = /^(?:gpt-[5-9]|o\d)/;

/** The error an item is answered with, or undefined when it gets a reply. */
export function itemError(item: Item): { status: number; body: { error: OpenAiError } } | undefined {
  const { endpoint, body, directives } = item;
  const inputField = INPUT_FIELD[endpoint];
  if (directives.unknown !== undefined) {
    const known = `errors are ${ERROR_DIRECTIVES.join(', ')}`;
    return badRequest(
      `The simulator does not know the directive ${directives.unknown.join(', ')}; ${known}.`,
      inputField,
    );
  }
  if (directives.error !== undefined) {
    const found = errorOfDirective(directives.error);
    if (found !== undefined) return { status: found.status, body: errorBody(found.error) };
    return badRequest(`The simulator does not know the error ${directives.error}.`, inputField);
  }
  if (directives.invalid) return badRequest(`Invalid value for '${inputField}'.`, inputField, 'invalid_value');
  if (endpoint === '/v1/chat/completions' && isPresent(body['max_tokens']) && REASONS.test(String(body['model']))) {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    return badRequest(message, 'max_tokens', 'unsupported_parameter');
  }
  const input = body[inputField];
  if (!isPresent(input) || (Array.isArray(input) && input.length === 0)) {
    return badRequest(`Missing required parameter: '${inputField}'.`, inputField, 'missing_required_parameter');
  }
  return undefined;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function badRequest(message: string, param: string, code: string | null = null) {
  return { status: 400, body: errorBody({ message, param, code }) };
}
