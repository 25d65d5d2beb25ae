import type {
  ContentBlockParam,
  MessageParam,
  TextBlockParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import { parseJsonLine } from '../../domain/json-line.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { toTextBlocks, translateTextContent, translateUserContent } from './chat-content.ts';
import { isAbsent, needList, needObject, needText, refuse, refuseOthers } from './json-shape.ts';

interface Turn {
  role: 'user' | 'assistant';
  content: ContentBlockParam[];
}

/**
 * The messages of a chat completion as Anthropic's system prompt and turns. System and developer text goes into the
 * system prompt in order, wherever it stood. Consecutive messages of one role, the answers of tools among the user's,
 * become one turn; empty text is left out, and a message of nothing else with it.
 */
export function translateMessages(messages: unknown): { system: TextBlockParam[]; messages: MessageParam[] } {
  const system: TextBlockParam[] = [];
  const turns: Turn[] = [];
  for (const { value, field } of needList(messages, 'request.messages')) {
    const message = needObject(value, field);
    const role = message['role'];
    if (role === 'system' || role === 'developer') {
      refuseOthers(message, ['role', 'content'], field);
      system.push(...translateTextContent(message['content'], `${field}.content`, ['text']));
    } else {
      addToTurn(turns, translateMessage(message, field));
    }
  }
  if (turns.length === 0) refuse('request.messages', 'must have a message besides the system prompt that is not empty');
  return { system, messages: turns };
}

function translateMessage(message: JsonObject, field: string): Turn {
  switch (message['role']) {
    case 'user':
      refuseOthers(message, ['role', 'content'], field);
      return { role: 'user', content: translateUserContent(message['content'], `${field}.content`) };
    case 'assistant':
      return { role: 'assistant', content: translateAssistant(message, field) };
    case 'tool':
      return { role: 'user', content: [translateToolAnswer(message, field)] };
    default:
      return refuse(`${field}.role`, 'must be system, developer, user, assistant or tool');
  }
}

function addToTurn(turns: Turn[], { role, content }: Turn): void {
  if (content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) last.content.push(...content);
  else turns.push({ role, content });
}

/** What it said, what it refused with, then what it called. */
function translateAssistant(message: JsonObject, field: string): ContentBlockParam[] {
  const { annotations } = message;
  // A reply that is sent back has an empty list of them.
  const ignored = Array.isArray(annotations) && annotations.length === 0 ? ['annotations'] : [];
  refuseOthers(message, ['role', 'content', 'refusal', 'tool_calls', ...ignored], field);
  const { content, refusal, tool_calls: calls } = message;
  const blocks: ContentBlockParam[] = isAbsent(content)
    ? []
    : translateTextContent(content, `${field}.content`, ['text', 'refusal']);
  if (!isAbsent(refusal)) blocks.push(...toTextBlocks(needText(refusal, `${field}.refusal`)));
  if (!isAbsent(calls)) {
    for (const call of needList(calls, `${field}.tool_calls`)) blocks.push(translateToolCall(call.value, call.field));
  }
  return blocks;
}

function translateToolCall(value: unknown, field: string): ToolUseBlockParam {
  const call = needObject(value, field);
  if (call['type'] !== 'function') refuse(`${field}.type`, 'must be function');
  refuseOthers(call, ['id', 'type', 'function'], field);
  const called = needObject(call['function'], `${field}.function`);
  refuseOthers(called, ['name', 'arguments'], `${field}.function`);
  return {
    type: 'tool_use',
    id: needText(call['id'], `${field}.id`),
    name: needText(called['name'], `${field}.function.name`),
    input: readArguments(called['arguments'], `${field}.function.arguments`),
  };
}

/** The message does not say what is wrong with them, for that would quote them. */
function readArguments(value: unknown, field: string): JsonObject {
  const text = needText(value, field);
  if (text.trim() === '') return {};
  const parsed = parseJsonLine(text);
  return parsed.ok ? parsed.value : refuse(field, 'must be the JSON of an object, exact in every number');
}

function translateToolAnswer(message: JsonObject, field: string): ToolResultBlockParam {
  refuseOthers(message, ['role', 'content', 'tool_call_id'], field);
  const content = translateTextContent(message['content'], `${field}.content`, ['text']);
  return {
    type: 'tool_result',
    tool_use_id: needText(message['tool_call_id'], `${field}.tool_call_id`),
    ...(content.length > 0 && { content }),
  };
}
