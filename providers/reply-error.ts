import type { z } from 'zod';
import { isJsonObject } from '../domain/json-object.ts';
import { ProviderError } from './provider-error.ts';
import { readSafeText } from './safe-text.ts';

const MAX_MESSAGE_LENGTH = 2000;
const MAX_PAGE_LENGTH = 200;
/** Refused keys are quoted in part by OpenAI and Anthropic (`sk-…`) and whole by Google (`AIza…`). */
const KEY = /\b(sk|sess|pk)-[\w*.-]{4,}|\b(AIza)[\w*.-]{4,}/g;

/** Refused by the adapter itself, before anything was sent. */
export function rejectedError(message: string): ProviderError {
  return new ProviderError({ code: 'rejected', message, isRetryable: false, mayHaveActed: false });
}

/** A reply with status 200 that is not what was asked for: a proxy's page, an error object, a field missing. */
export function malformedReply(reply: unknown, expected: string): ProviderError {
  const found = findWords(reply);
  return new ProviderError({
    code: 'malformed_reply',
    message: redact(`the reply is not ${expected}${found === null ? '' : `: ${found}`}`),
    status: 200,
    requestId: readRequestId(reply),
    isRetryable: true,
    mayHaveActed: true,
  });
}

/** The SDKs return a string for a reply that is not JSON, and whatever object came for one that is. */
export function parseReply<Reply>(schema: z.ZodType<Reply>, reply: unknown, expected: string): Reply {
  const parsed = schema.safeParse(reply);
  if (!parsed.success) throw malformedReply(reply, expected);
  return parsed.data;
}

/** A provider's words fit for a log: no key, no end of it, not too long. */
export function redact(message: string): string {
  return readSafeText(message.replace(KEY, '$1$2-…'), MAX_MESSAGE_LENGTH) ?? '';
}

function findWords(reply: unknown): string | null {
  if (typeof reply === 'string') return readSafeText(reply, MAX_PAGE_LENGTH);
  if (!isJsonObject(reply) || !isJsonObject(reply['error'])) return null;
  const { message, code } = reply['error'];
  return readSafeText(message, MAX_MESSAGE_LENGTH) ?? readSafeText(code, MAX_MESSAGE_LENGTH);
}

function readRequestId(reply: unknown): string | null {
  // The SDKs hang the header with the request's id on a parsed reply under this name.
  const id = typeof reply === 'object' && reply !== null && '_request_id' in reply ? reply._request_id : null;
  return typeof id === 'string' ? id : null;
}
