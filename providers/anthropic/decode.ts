import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { Endpoint } from '../../domain/provider.ts';
import { sliceMember } from '../json-member.ts';
import { type JsonPlace, slicePlace } from '../json-place.ts';
import type { LineResult, ResultLine } from '../provider.ts';
import { MAX_ID_LENGTH, readResultLine } from '../result-line.ts';
import { readSafeText } from '../safe-text.ts';
import { toChatCompletion } from './chat-reply.ts';
import { classifyItemFailure, type FailedResult, readItemError, toFailed } from './item-failure.ts';
import { judgeMessage } from './result-body.ts';
import { readUsage } from './usage.ts';

const MAX_WORD_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 4000;
/** The documented beginning of a line, from which a line cut or garbled further on can still be told. */
const LINE_START = /^\s*\{\s*"custom_id"\s*:\s*"([^"\\]{1,256})"/;
const FORMAT = { idMember: 'custom_id', lineStart: LINE_START };

/**
 * One line of the results (@anthropic-ai/sdk, `MessageBatchIndividualResponse`): never its order, only its `custom_id`.
 *
 * A succeeded request is completed: for `messages` with the Message byte for byte, for `chat.completions` with a
 * completion in OpenAI's shape. Refused with nothing left to show it is failed as `safety_blocked`, empty or incomplete
 * as `malformed_result`; both carry the usage they report, since Anthropic bills what succeeded.
 */
export function decodeLine(endpoint: Endpoint, line: string): ResultLine {
  return readResultLine(line, FORMAT, (parsed) => decodeResult(endpoint, line, parsed['result']));
}

function decodeResult(endpoint: Endpoint, line: string, result: unknown): LineResult {
  const { type, message, error } = isJsonObject(result) ? result : {};
  const place = { json: line, path: ['result', 'message'] };
  switch (type) {
    case 'succeeded':
      return isJsonObject(message) ? decodeMessage(endpoint, place, message) : toMalformed();
    case 'expired':
      return { kind: 'expired' };
    case 'canceled':
    case 'cancelled':
      return { kind: 'cancelled' };
    default: {
      const failed = classifyItemFailure(readItemError(error));
      if (isJsonObject(message)) return withMessage(failed, place, message);
      return isFilled(error) ? { ...failed, body: sliceMember(line, ['result', 'error']) ?? '{}' } : failed;
    }
  }
}

/** The Message that stands at `place`, in a result line or by itself, as {@link decodeLine} tells it. */
export function decodeMessage(endpoint: Endpoint, place: JsonPlace, message: JsonObject): LineResult {
  const verdict = judgeMessage(message);
  if (verdict === 'blocked') return withMessage(toBlocked(message), place, message);
  const usage = readUsage(message['usage']);
  const body = verdict === 'complete' ? toBody(endpoint, place, message) : null;
  if (body === null) return withMessage(toMalformed(), place, message);
  return { kind: 'completed', body, usage, model: readSafeText(message['model'], MAX_ID_LENGTH) };
}

function toBody(endpoint: Endpoint, place: JsonPlace, message: JsonObject): string | null {
  if (endpoint !== 'chat.completions') return sliceMessage(place);
  const contentJson = slicePlace(place, 'content') ?? '[]';
  const completion = toChatCompletion(message, contentJson, readUsage(message['usage']));
  return completion === null ? null : JSON.stringify(completion);
}

/** `RefusalStopDetails` of the @anthropic-ai/sdk types. */
function toBlocked(message: JsonObject): FailedResult {
  const details = isJsonObject(message['stop_details']) ? message['stop_details'] : {};
  return toFailed('safety_blocked', {
    type: 'refusal',
    code: readSafeText(details['category'], MAX_WORD_LENGTH),
    message: readSafeText(details['explanation'], MAX_MESSAGE_LENGTH) ?? 'the model refused and left no answer',
  });
}

function toMalformed(): FailedResult {
  return toFailed('malformed_result', { type: null, code: null, message: 'the result has no complete message' });
}

function withMessage(failed: FailedResult, place: JsonPlace, message: JsonObject): FailedResult {
  if (!isFilled(message)) return failed;
  const usage = readUsage(message['usage']);
  return { ...failed, body: sliceMessage(place), ...(usage !== null && { usage }) };
}

function sliceMessage(place: JsonPlace): string {
  return slicePlace(place) ?? '{}';
}

function isFilled(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length > 0;
}
