import { type Asked, readAsked } from '../asked.ts';
import { type Attachment, fromBase64 } from '../attachments.ts';
import { estimateTokens } from '../reply-text.ts';
import type { ModelTask } from './models.ts';
import { isObject, type JsonObject } from './proto-json.ts';
import { schemaOf } from './reply-schema.ts';

/**
 * All text a request puts before the model: the system instruction, then the contents in order, joined by line ends.
 * Results of functions and thoughts of earlier answers are not read.
 */
export function promptOf(task: ModelTask, request: JsonObject): string {
  const contents = task === 'embed' ? request['content'] : [request['systemInstruction'], request['contents']];
  return textsOf(contents).join('\n');
}

/** What a request says, the text of its documents included. */
export function readAskedBy(task: ModelTask, request: JsonObject): Promise<Asked> {
  const contents = Array.isArray(request['contents']) ? request['contents'] : [];
  const first = contents.find((content) => isObject(content) && (content['role'] ?? 'user') === 'user');
  return readAsked({
    prompt: promptOf(task, request),
    firstTurn: textsOf(first).join('\n'),
    attachments: attachmentsOf(contents),
    schema: schemaOf(request),
  });
}

/** Media by its bytes; a file by its URI is not had. */
function attachmentsOf(value: unknown): Attachment[] {
  if (Array.isArray(value)) return value.flatMap(attachmentsOf);
  if (!isObject(value)) return [];
  const { inlineData, parts } = value as { inlineData?: unknown; parts?: unknown };
  if (!isObject(inlineData)) return attachmentsOf(parts);
  const { mimeType, data } = inlineData as { mimeType?: unknown; data?: unknown };
  return typeof data === 'string' ? [fromBase64(String(mimeType), data)] : [];
}

export function promptTokens(prompt: string): number {
  return estimateTokens(prompt);
}

function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (!isObject(value)) return [];
  const { text, thought, parts } = value as { text?: unknown; thought?: unknown; parts?: unknown };
  if (typeof text === 'string') return thought === true ? [] : [text];
  return textsOf(parts);
}
