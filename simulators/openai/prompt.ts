import { type Asked, readAsked } from '../asked.ts';
import { type Attachment, readInlineFile } from '../attachments.ts';
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

/** What a request says, the text of its documents included. */
export function readRequest(endpoint: Endpoint, body: Body): Promise<Asked> {
  const input = body[INPUT_FIELD[endpoint]];
  const first = Array.isArray(input) ? input.find((message) => asBody(message)['role'] === 'user') : input;
  return readAsked({
    prompt: promptOf(endpoint, body),
    firstTurn: textsOf(first).join('\n'),
    attachments: Array.isArray(input) ? attachmentsOf(input) : [],
    schema: schemaOf(body),
  });
}

/** The JSON schema a reply shall fit, `any` for JSON of any shape, or undefined. */
export function schemaOf(body: Body): unknown {
  const format = asBody(body['response_format'] ?? asBody(body['text'])['format']);
  if (format['type'] === 'json_object') return 'any';
  if (format['type'] !== 'json_schema') return undefined;
  return asBody(format['json_schema'])['schema'] ?? format['schema'] ?? {};
}

export function asBody(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {};
}

/** Images and files by their bytes, in the parts of messages of either endpoint; those by URL or id are not had. */
function attachmentsOf(value: unknown): Attachment[] {
  if (Array.isArray(value)) return value.flatMap(attachmentsOf);
  const { type, content, image_url: image, file, file_data: data } = asBody(value);
  const found =
    type === 'image_url' || type === 'input_image'
      ? inlineFile(asBody(image)['url'] ?? image, 'image/jpeg')
      : type === 'file' || type === 'input_file'
        ? inlineFile(asBody(file)['file_data'] ?? data, 'application/pdf')
        : undefined;
  return [...(found === undefined ? [] : [found]), ...(Array.isArray(content) ? attachmentsOf(content) : [])];
}

function inlineFile(data: unknown, defaultType: string): Attachment | undefined {
  return typeof data === 'string' ? readInlineFile(data, defaultType) : undefined;
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
