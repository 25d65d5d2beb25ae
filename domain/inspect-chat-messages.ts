import { inspectMembers } from './chat-members.ts';
import type { Findings } from './findings.ts';
import { inspectToolCalls } from './inspect-chat-calls.ts';
import { inspectAudio, inspectFile, inspectImage } from './inspect-chat-media.ts';
import { inspectText } from './inspect-text.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

/** What a provider adds around each message and around the whole. */
export const MESSAGE_TOKENS = 4;
export const REQUEST_TOKENS = 3;
/** Of text the provider holds and the gateway cannot see: a stored prompt, an earlier response, a cache. */
export const UNSEEN_INPUT_TOKENS = 4_000;

/** Roles, with the members they have besides `role` and `content` wherever they run. */
const MEMBERS_OF_ROLE: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['system', ['role', 'content']],
  ['developer', ['role', 'content']],
  ['user', ['role', 'content']],
  ['assistant', ['role', 'content', 'refusal', 'tool_calls']],
  ['tool', ['role', 'content', 'tool_call_id']],
  ['function', ['role', 'content']],
]);
/** Members that only OpenAI reads (openai SDK, `ChatCompletionMessageParam`). */
const SPECIFIC_MEMBERS: readonly string[] = ['name', 'audio', 'function_call'];

/** What only the whole of the messages tells. */
interface Conversation {
  /** Of the tool calls so far; null before the first. */
  callIds: Set<string> | null;
  /** Whether any turn is left where empty texts are not sent on. */
  saysSomething: boolean;
}

/** The `messages` of a chat completion (openai SDK, `ChatCompletionMessageParam`). */
export function inspectChatMessages(messages: unknown, findings: Findings): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    findings.problem('request.messages', 'must be a non-empty list of messages');
    return;
  }
  findings.tokens(REQUEST_TOKENS);
  const conversation: Conversation = { callIds: null, saysSomething: false };
  for (let index = 0; index < messages.length; index += 1) {
    inspectMessage(messages[index], `request.messages[${index}]`, conversation, findings);
  }
  if (!conversation.saysSomething) findings.feature(FEATURE.PROVIDER_SPECIFIC, 'request', 'messages');
}

function inspectMessage(message: unknown, path: string, conversation: Conversation, findings: Findings): void {
  if (!isJsonObject(message)) {
    findings.problem(path, 'must be an object');
    return;
  }
  findings.tokens(MESSAGE_TOKENS);
  const { role } = message;
  const members = MEMBERS_OF_ROLE.get(role);
  if (members === undefined) {
    findings.problem(`${path}.role`, 'must be system, developer, user, assistant, tool or function');
  } else inspectOwnMembers(message, members, path, findings);
  if (role === 'function') findings.feature(FEATURE.PROVIDER_SPECIFIC, path, 'role');
  const hasContent = inspectContent(message, path, findings);
  if (role === 'user' && hasContent) conversation.saysSomething = true;
  else if (role === 'assistant') inspectAssistant(message, hasContent, path, conversation, findings);
  else if (role === 'tool') inspectToolResult(message, path, conversation, findings);
}

function inspectOwnMembers(message: JsonObject, carried: readonly string[], path: string, findings: Findings): void {
  for (const member in message) {
    const value = message[member];
    if (carried.includes(member) || value === null || value === undefined) continue;
    // A reply that is sent back has an empty list of them.
    if (member === 'annotations' && Array.isArray(value) && value.length === 0) continue;
    const isSpecific = SPECIFIC_MEMBERS.includes(member);
    findings.feature(isSpecific ? FEATURE.PROVIDER_SPECIFIC : FEATURE.UNKNOWN_FIELD, path, member);
  }
}

function inspectAssistant(
  message: JsonObject,
  hasContent: boolean,
  path: string,
  conversation: Conversation,
  findings: Findings,
): void {
  const refusal = message['refusal'] ?? '';
  if (typeof refusal === 'string') findings.text(refusal);
  else findings.problem(`${path}.refusal`, 'must be a string');
  if (hasContent || refusal !== '') conversation.saysSomething = true;
  if (isJsonObject(message['function_call'])) findings.json(message['function_call']);
  const calls = message['tool_calls'] ?? null;
  if (calls === null) return;
  for (const id of inspectToolCalls(calls, `${path}.tool_calls`, findings)) {
    conversation.callIds ??= new Set();
    conversation.callIds.add(id);
    conversation.saysSomething = true;
  }
}

/** Elsewhere than at OpenAI an answer to a call that was not made has no name. */
function inspectToolResult(message: JsonObject, path: string, conversation: Conversation, findings: Findings): void {
  conversation.saysSomething = true;
  const callId = message['tool_call_id'];
  if (typeof callId !== 'string') findings.problem(`${path}.tool_call_id`, 'must be a string');
  else if (!conversation.callIds?.has(callId)) findings.feature(FEATURE.PROVIDER_SPECIFIC, path, 'tool_call_id');
}

/** Whether there is any. An assistant that called tools or refused has none. */
function inspectContent(message: JsonObject, path: string, findings: Findings): boolean {
  const content = message['content'];
  if (typeof content === 'string') {
    findings.text(content);
    return content !== '';
  }
  if (Array.isArray(content) && content.length > 0) {
    let hasContent = false;
    for (const [index, part] of content.entries()) {
      if (inspectPart(part, message['role'], `${path}.content[${index}]`, findings)) hasContent = true;
    }
    return hasContent;
  }
  const isAbsent = content === undefined || content === null;
  const mayBeAbsent = message['role'] === 'assistant' && (message['tool_calls'] ?? message['refusal'] ?? null) !== null;
  if (isAbsent && (mayBeAbsent || (message['function_call'] ?? null) !== null)) return false;
  findings.problem(`${path}.content`, 'must be a string or a non-empty list of content parts');
  return false;
}

/** Whether the part is more than an empty text. Parts that are not of the role are OpenAI's to judge. */
function inspectPart(part: unknown, role: unknown, path: string, findings: Findings): boolean {
  if (!isJsonObject(part)) {
    findings.problem(path, 'must be an object');
    return false;
  }
  const { type } = part;
  switch (type) {
    case 'text':
      inspectText(part['text'], `${path}.text`, findings);
      break;
    case 'refusal':
      inspectText(part['refusal'], `${path}.refusal`, findings);
      break;
    case 'image_url':
      inspectImage(findObject(part, 'image_url'), `${path}.image_url`, findings);
      break;
    case 'input_audio':
      inspectAudio(findObject(part, 'input_audio'), `${path}.input_audio`, findings);
      break;
    case 'file':
      inspectFile(findObject(part, 'file'), `${path}.file`, findings);
      break;
    default:
      findings.problem(`${path}.type`, 'must be text, image_url, input_audio, file or refusal');
      return false;
  }
  inspectMembers(part, ['type', type], path, findings);
  const isOfRole = type === 'text' || role === (type === 'refusal' ? 'assistant' : 'user');
  if (!isOfRole) findings.feature(FEATURE.PROVIDER_SPECIFIC, path, 'type');
  return part[type] !== '';
}
