import type { Findings } from './findings.ts';
import { MESSAGE_TOKENS } from './inspect-chat-messages.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { addInlineMedia, addProviderFile } from './media-input.ts';
import { mediaKindOf } from './media-tokens.ts';

/** One `Content` of Gemini: a role and its parts (Gemini API reference, `Content`, `Part`). */
export function inspectGeminiContent(content: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(content)) {
    findings.problem(path, 'must be an object');
    return;
  }
  findings.tokens(MESSAGE_TOKENS);
  const role = content['role'] ?? null;
  if (role !== null && typeof role !== 'string') findings.problem(`${path}.role`, 'must be a string');
  const parts = content['parts'];
  if (!Array.isArray(parts) || parts.length === 0) {
    findings.problem(`${path}.parts`, 'must be a non-empty list of parts');
    return;
  }
  for (const [index, part] of parts.entries()) inspectPart(part, `${path}.parts[${index}]`, findings);
}

/** Parts without text or media (function calls and their answers, executed code) count as their JSON. */
function inspectPart(part: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(part)) {
    findings.problem(path, 'must be an object');
    return;
  }
  const { text } = part;
  if (text !== undefined) {
    if (typeof text === 'string') {
      findings.text(text);
      return;
    }
    findings.problem(`${path}.text`, 'must be a string');
    return;
  }
  const inline = findObject(part, 'inlineData') ?? findObject(part, 'inline_data');
  if (inline !== null) {
    inspectInline(inline, `${path}.inlineData`, findings);
    return;
  }
  const file = findObject(part, 'fileData') ?? findObject(part, 'file_data');
  if (file !== null) {
    addProviderFile(mediaKindOf(mediaTypeOf(file)), `${path}.fileData`, findings);
    return;
  }
  findings.json(part);
}

function inspectInline(inline: JsonObject, path: string, findings: Findings): void {
  const { data } = inline;
  if (typeof data !== 'string') {
    findings.problem(`${path}.data`, 'must be base64 text');
    return;
  }
  if (mediaTypeOf(inline) === '') {
    findings.problem(`${path}.mimeType`, 'must be a media type');
    return;
  }
  addInlineMedia(mediaKindOf(mediaTypeOf(inline)), data.length, path, findings);
}

function mediaTypeOf(media: JsonObject): string {
  const mediaType = media['mimeType'] ?? media['mime_type'];
  return typeof mediaType === 'string' ? mediaType : '';
}
