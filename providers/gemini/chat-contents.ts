import type { Content, Part } from '@google/genai';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { toFilePart, toImagePart } from './chat-media.ts';
import { type CalledFunctions, toAnswerPart, toCallParts } from './chat-tool-calls.ts';
import { refuseOthers } from './refuse-members.ts';

export interface Conversation {
  contents: Content[];
  systemInstruction: Content | null;
}

type Turn = { role: 'user' | 'model'; parts: Part[] };
type ReadPart = (part: JsonObject, path: string) => Part | null;

/**
 * The `messages` of a chat completion (openai SDK, `ChatCompletionMessageParam`) as Gemini's turns. What the system and the
 * developer say is gathered in order into the system instruction, wherever it stood; messages of one role in a row are one
 * turn; empty texts are left out, for Gemini refuses them. Throws UntranslatableRequest, with the field.
 */
export function toConversation(messages: unknown, { model }: { model: string }): Conversation {
  const called: CalledFunctions = new Map();
  const system: Part[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
    const path = `request.messages[${index}]`;
    if (!isJsonObject(message)) throw new UntranslatableRequest(path, 'must be an object');
    const { role, parts } = toTurn(message, path, { model, called });
    if (role === 'system') system.push(...parts);
    else addTurn(turns, { role, parts });
  }
  if (turns.length === 0) {
    throw new UntranslatableRequest('request.messages', 'Gemini wants something said by the user or the assistant');
  }
  return { contents: turns, systemInstruction: system.length === 0 ? null : { parts: system } };
}

function toTurn(
  message: JsonObject,
  path: string,
  context: { model: string; called: CalledFunctions },
): { role: 'system' | 'user' | 'model'; parts: Part[] } {
  switch (message['role']) {
    case 'system':
    case 'developer':
      refuseOthers(message, ['role', 'content'], path);
      return { role: 'system', parts: toParts(message['content'], path, readText) };
    case 'user':
      refuseOthers(message, ['role', 'content'], path);
      return { role: 'user', parts: toParts(message['content'], path, readUserPart) };
    case 'assistant':
      refuseOthers(message, ['role', 'content', 'refusal', 'tool_calls'], path);
      return {
        role: 'model',
        parts: [
          ...toParts(message['content'], path, readAssistantPart),
          ...toParts(message['refusal'], path, readText),
          ...toCallParts(message['tool_calls'], `${path}.tool_calls`, context),
        ],
      };
    case 'tool': {
      refuseOthers(message, ['role', 'content', 'tool_call_id'], path);
      const text = toParts(message['content'], path, readText).map((part) => part.text ?? '');
      return { role: 'user', parts: [toAnswerPart(message, text.join(''), path, context.called)] };
    }
    default:
      throw new UntranslatableRequest(`${path}.role`, 'Gemini has no such role');
  }
}

function addTurn(turns: Turn[], { role, parts }: Turn): void {
  if (parts.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) last.parts.push(...parts);
  else turns.push({ role, parts });
}

function toParts(content: unknown, path: string, readPart: ReadPart): Part[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ text: content }];
  if (!Array.isArray(content))
    throw new UntranslatableRequest(`${path}.content`, 'must be a string or a list of parts');
  return content.flatMap((part, index) => {
    const partPath = `${path}.content[${index}]`;
    if (!isJsonObject(part)) throw new UntranslatableRequest(partPath, 'must be an object');
    return readPart(part, partPath) ?? [];
  });
}

/** Null for an empty text. */
function readText(part: JsonObject, path: string): Part | null {
  if (part['type'] !== 'text') throw new UntranslatableRequest(path, 'Gemini takes text here only');
  return toTextPart(part, 'text', path);
}

function readAssistantPart(part: JsonObject, path: string): Part | null {
  return part['type'] === 'refusal' ? toTextPart(part, 'refusal', path) : readText(part, path);
}

function readUserPart(part: JsonObject, path: string): Part | null {
  switch (part['type']) {
    case 'image_url':
      return toImagePart(part, path);
    case 'file':
      return toFilePart(part, path);
    case 'text':
      return toTextPart(part, 'text', path);
    default:
      throw new UntranslatableRequest(path, 'Gemini is sent text, images and files only');
  }
}

function toTextPart(part: JsonObject, member: 'text' | 'refusal', path: string): Part | null {
  refuseOthers(part, ['type', member], path);
  const text = part[member];
  if (typeof text !== 'string') throw new UntranslatableRequest(`${path}.${member}`, 'must be a string');
  return text === '' ? null : { text };
}
