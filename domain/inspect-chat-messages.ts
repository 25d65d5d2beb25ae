import type { Findings } from './findings.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { estimateJsonTokens } from './json-tokens.ts';
import { addInlineMedia, addMediaUrl, addProviderFile } from './media-input.ts';
import { estimateTextTokens } from './text-tokens.ts';

/** What a provider adds around each message and around the whole. */
export const MESSAGE_TOKENS = 4;
export const REQUEST_TOKENS = 3;

const ROLES: readonly unknown[] = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** The `messages` of a chat completion (openai SDK, `ChatCompletionMessageParam`). */
export function inspectChatMessages(messages: unknown, findings: Findings): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    findings.problem('request.messages', 'must be a non-empty list of messages');
    return;
  }
  findings.tokens(REQUEST_TOKENS);
  for (let index = 0; index < messages.length; index += 1) {
    inspectMessage(messages[index], `request.messages[${index}]`, findings);
  }
}

function inspectMessage(message: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(message)) {
    findings.problem(path, 'must be an object');
    return;
  }
  findings.tokens(MESSAGE_TOKENS);
  if (!ROLES.includes(message['role'])) {
    findings.problem(`${path}.role`, 'must be system, developer, user, assistant, tool or function');
  }
  inspectContent(message, path, findings);
  if (message['role'] === 'tool' && typeof message['tool_call_id'] !== 'string') {
    findings.problem(`${path}.tool_call_id`, 'must be a string');
  }
  const calls = message['tool_calls'];
  if (calls === undefined || calls === null) return;
  if (Array.isArray(calls)) findings.tokens(estimateJsonTokens(calls));
  else findings.problem(`${path}.tool_calls`, 'must be a list');
}

/** An assistant that called tools or refused has no content. */
function inspectContent(message: JsonObject, path: string, findings: Findings): void {
  const content = message['content'];
  if (typeof content === 'string') {
    findings.tokens(estimateTextTokens(content));
    return;
  }
  if (Array.isArray(content) && content.length > 0) {
    for (const [index, part] of content.entries()) inspectPart(part, `${path}.content[${index}]`, findings);
    return;
  }
  const isAbsent = content === undefined || content === null;
  const mayBeAbsent = message['role'] === 'assistant' && (message['tool_calls'] ?? message['refusal'] ?? null) !== null;
  if (isAbsent && (mayBeAbsent || (message['function_call'] ?? null) !== null)) return;
  findings.problem(`${path}.content`, 'must be a string or a non-empty list of content parts');
}

function inspectPart(part: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(part)) {
    findings.problem(path, 'must be an object');
    return;
  }
  switch (part['type']) {
    case 'text':
      inspectText(part['text'], `${path}.text`, findings);
      return;
    case 'refusal':
      inspectText(part['refusal'], `${path}.refusal`, findings);
      return;
    case 'image_url': {
      const url = findObject(part, 'image_url')?.['url'];
      if (typeof url !== 'string') {
        findings.problem(`${path}.image_url.url`, 'must be a string');
        return;
      }
      addMediaUrl('image', url, findings);
      return;
    }
    case 'input_audio': {
      const data = findObject(part, 'input_audio')?.['data'];
      if (typeof data !== 'string') {
        findings.problem(`${path}.input_audio.data`, 'must be base64 text');
        return;
      }
      addInlineMedia('audio', data.length, findings);
      return;
    }
    case 'file':
      inspectFile(findObject(part, 'file'), `${path}.file`, findings);
      return;
    default:
      findings.problem(`${path}.type`, 'must be text, image_url, input_audio, file or refusal');
      return;
  }
}

/** A file as base64 text or `data:` URL, or by the provider's id. */
function inspectFile(file: JsonObject | null, path: string, findings: Findings): void {
  const data = file?.['file_data'];
  if (typeof data === 'string') {
    if (data.startsWith('data:')) {
      addMediaUrl('document', data, findings);
      return;
    }
    addInlineMedia('document', data.length, findings);
    return;
  }
  if (typeof file?.['file_id'] === 'string') {
    addProviderFile('document', findings);
    return;
  }
  findings.problem(path, 'must have file_data or file_id');
}

export function inspectText(value: unknown, path: string, findings: Findings): void {
  if (typeof value === 'string') findings.tokens(estimateTextTokens(value));
  else findings.problem(path, 'must be a string');
}
