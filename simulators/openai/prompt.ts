import { estimateTokens } from '../reply-text.ts';

/** Endpoints whose replies this simulator can write. */
export const ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/embeddings',
  '/v1/completions',
  '/v1/moderations',
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

export type Body = Readonly<Record<string, unknown>>;

/** The field that holds what the model reads. */
export const INPUT_FIELD: Readonly<Record<Endpoint, string>> = {
  '/v1/chat/completions': 'messages',
  '/v1/responses': 'input',
  '/v1/embeddings': 'input',
  '/v1/completions': 'prompt',
  '/v1/moderations': 'input',
};

/** All text a request puts before the model, joined by line ends. */
export function promptOf(endpoint: Endpoint, body: Body): string {
  const { instructions, [INPUT_FIELD[endpoint]]: input } = body;
  return [...textsOf(instructions), ...textsOf(input)].join('\n');
}

/** Plausible input tokens: of the text, or one per number where the input is given as tokens. */
export function promptTokens(endpoint: Endpoint, body: Body, prompt: string): number {
  const input = body[INPUT_FIELD[endpoint]];
  const given = Array.isArray(input) ? input.flat().filter((each) => typeof each === 'number').length : 0;
  return given > 0 ? given : estimateTokens(prompt);
}

/** What an embeddings, completions or moderations request asks about, one entry per result. */
export function inputsOf(input: unknown): unknown[] {
  if (!Array.isArray(input)) return [input];
  const isOneInput = typeof input[0] === 'number' || (typeof input[0] === 'object' && !Array.isArray(input[0]));
  return isOneInput ? [input] : input;
}

/** Strings, and the text of message and content parts, however deeply nested; results of tools are not read. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== 'object' || value === null || (value as Body)['role'] === 'tool') return [];
  const { text, content } = value as Body;
  return [...textsOf(text), ...textsOf(content)];
}
