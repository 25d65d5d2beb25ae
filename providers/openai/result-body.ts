import type { Endpoint } from '../../domain/provider.ts';

/**
 * - `complete`: has the shape its endpoint documents.
 * - `blocked`: ended by the content filter with nothing left to show.
 * - `failed`, `cancelled`: a response object (`/v1/responses`) that says so itself.
 * - `malformed`: empty or incomplete.
 */
export type BodyVerdict = 'complete' | 'blocked' | 'failed' | 'cancelled' | 'malformed';

type Json = Readonly<Record<string, unknown>>;

/**
 * What the body of a result with status 200 is. A filtered answer that still has any content, a tool call or a refusal is
 * `complete` with the finish reason it carries: the caller can read why, and it was billed.
 */
export function judgeBody(endpoint: Endpoint, body: Json): BodyVerdict {
  switch (endpoint) {
    case 'chat.completions':
      return judgeChatCompletion(body['choices']);
    case 'responses':
      return judgeResponse(body);
    case 'embeddings':
      return startsWithRecord(body['data']) ? 'complete' : 'malformed';
    case 'moderations':
      return startsWithRecord(body['results']) ? 'complete' : 'malformed';
    default:
      return 'malformed';
  }
}

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function judgeChatCompletion(choices: unknown): BodyVerdict {
  if (!Array.isArray(choices) || choices.length === 0) return 'malformed';
  let isBlocked = true;
  for (const choice of choices) {
    if (!isRecord(choice) || !isRecord(choice['message'])) return 'malformed';
    if (choice['finish_reason'] !== 'content_filter' || hasContent(choice['message'])) isBlocked = false;
  }
  return isBlocked ? 'blocked' : 'complete';
}

function hasContent(message: Json): boolean {
  return (
    isFilled(message['content']) ||
    isFilled(message['refusal']) ||
    isFilled(message['tool_calls']) ||
    isRecord(message['function_call']) ||
    isRecord(message['audio'])
  );
}

/** `Response.status` and `Response.incomplete_details` of the openai SDK's types. */
function judgeResponse(body: Json): BodyVerdict {
  const { status, output, incomplete_details: details } = body;
  if (status === 'failed' || status === 'cancelled') return status;
  if (!Array.isArray(output) || status === 'in_progress' || status === 'queued') return 'malformed';
  const isFiltered = isRecord(details) && details['reason'] === 'content_filter';
  return isFiltered && !output.some(isAnswer) ? 'blocked' : 'complete';
}

/** Reasoning alone is no answer; a message may be empty; every other item is a call of some tool. */
function isAnswer(item: unknown): boolean {
  if (!isRecord(item) || item['type'] === 'reasoning') return false;
  if (item['type'] !== 'message') return true;
  const parts = item['content'];
  return (
    Array.isArray(parts) &&
    parts.some((part) => isRecord(part) && (isFilled(part['text']) || isFilled(part['refusal'])))
  );
}

function startsWithRecord(value: unknown): boolean {
  return Array.isArray(value) && isRecord(value[0]);
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0;
}
