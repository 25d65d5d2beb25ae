import { type Asked, readAsked } from '../asked.ts';
import { type Attachment, fromBase64 } from '../attachments.ts';

/** A Messages body as it came in, not yet checked. */
export type Params = Readonly<Record<string, unknown>>;

/** All text a request puts before the model, the system prompt first, joined by line ends. */
function promptOf({ system, messages }: Params): string {
  return [...textsOf(system), ...textsOf(messages)].join('\n');
}

/** What a request says, the text of its documents included. */
export function readRequest(params: Params): Promise<Asked> {
  const { messages } = params;
  const first = Array.isArray(messages) ? messages.find((message) => asParams(message)['role'] === 'user') : undefined;
  return readAsked({
    prompt: promptOf(params),
    firstTurn: textsOf(first).join('\n'),
    attachments: attachmentsOf(messages),
    schema: schemaOf(params),
  });
}

/** The JSON schema a reply shall fit, or undefined. */
export function schemaOf(params: Params): unknown {
  return asParams(asParams(params['output_config'])['format'])['schema'];
}

export function asParams(value: unknown): Params {
  return typeof value === 'object' && value !== null ? (value as Params) : {};
}

/** Images and documents by their bytes or text; those by URL or id are not had. */
function attachmentsOf(value: unknown): Attachment[] {
  if (Array.isArray(value)) return value.flatMap(attachmentsOf);
  const { type, content, source } = asParams(value);
  if (type === undefined) return Array.isArray(content) ? attachmentsOf(content) : [];
  if (type !== 'image' && type !== 'document') return [];
  const { type: kind, media_type: mediaType, data } = asParams(source);
  if (typeof data !== 'string') return [];
  if (kind === 'text') return [{ mediaType: 'text/plain', bytes: Buffer.from(data) }];
  return kind === 'base64' ? [fromBase64(String(mediaType), data)] : [];
}

/** Strings, and the text of messages and content blocks; results of tools, images and documents are read elsewhere or not at all. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== 'object' || value === null) return [];
  const { type, text, content } = value as Params;
  if (type === 'text') return textsOf(text);
  return type === undefined ? textsOf(content) : [];
}
