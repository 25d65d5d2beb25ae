import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { Endpoint } from '../../domain/provider.ts';
import { sliceMember } from '../json-member.ts';
import { type JsonPlace, slicePlace } from '../json-place.ts';
import type { LineResult, ResultLine } from '../provider.ts';
import { MAX_ID_LENGTH, readResultLine } from '../result-line.ts';
import { readSafeText } from '../safe-text.ts';
import { toChatCompletion } from './chat-reply.ts';
import { toEmbeddingList } from './embedding-reply.ts';
import { classifyItemFailure, type FailedResult, toFailed } from './item-failure.ts';
import { judgeResponse } from './result-body.ts';
import { readRpcStatus } from './rpc-status.ts';
import { readUsage } from './usage.ts';

/** The documented beginning of a line, from which a line cut or garbled further on can still be told. */
const LINE_START = /^\s*\{\s*"key"\s*:\s*"([^"\\]{1,256})"/;
const FORMAT = { idMember: 'key', lineStart: LINE_START, findId: findInlineKey };

/**
 * One line of a result file, or one result that the batch itself carried (Gemini batch docs). Only its key says whose it
 * is, never its order; `SUCCEEDED` batches hold failures too.
 *
 * A response with an answer is completed, also where a filter or the length cut it: `generate_content` byte for byte, the
 * neutral endpoints in OpenAI's shapes. A refused prompt, or an answer of which a filter left nothing, is failed as
 * `safety_blocked`, an incomplete one as `malformed_result`; both carry the usage they report.
 */
export function decodeLine(endpoint: Endpoint, line: string): ResultLine {
  return readResultLine(line, FORMAT, (parsed) => decodeResult(endpoint, line, parsed));
}

function findInlineKey({ metadata }: JsonObject): unknown {
  return isJsonObject(metadata) ? metadata['key'] : undefined;
}

function decodeResult(endpoint: Endpoint, line: string, parsed: JsonObject): LineResult {
  const { response } = parsed;
  const error = readRpcStatus(parsed['error']);
  const place = { json: line, path: ['response'] };
  if (error === null && isJsonObject(response)) {
    const key = readSafeText(parsed['key'] ?? findInlineKey(parsed), MAX_ID_LENGTH) ?? '';
    return decodeResponse(endpoint, { place, response, key });
  }
  const failed = classifyItemFailure(error);
  return failed.kind === 'failed' && isJsonObject(response) ? withResponse(failed, endpoint, place, response) : failed;
}

interface FoundResponse {
  response: JsonObject;
  /** Where its text stands. */
  place: JsonPlace;
  /** The id of what is made of it, where it has none of its own. */
  key: string;
}

/** The response to one request, in a result line or by itself, as {@link decodeLine} tells it. */
export function decodeResponse(endpoint: Endpoint, found: FoundResponse): LineResult {
  const { response, place } = found;
  const verdict = judgeResponse(endpoint, response);
  if (verdict.kind === 'complete') return toCompleted(endpoint, found);
  if (verdict.kind === 'blocked') return withResponse(toBlocked(verdict.reason), endpoint, place, response);
  const failed = toFailed('malformed_result', { code: null, name: null, message: 'the response has no answer' });
  return withResponse(failed, endpoint, place, response);
}

function toCompleted(endpoint: Endpoint, { place, response, key }: FoundResponse): LineResult {
  const usage = readUsage(endpoint, response);
  const responseJson = sliceResponse(place);
  let body = responseJson;
  if (endpoint === 'embeddings') body = toEmbeddingList(response, responseJson, usage);
  if (endpoint === 'chat.completions') {
    const candidatesJson = sliceMember(responseJson, ['candidates']) ?? '[]';
    body = JSON.stringify(toChatCompletion({ key, response, candidatesJson, usage }));
  }
  return { kind: 'completed', body, usage, model: readSafeText(response['modelVersion'], MAX_ID_LENGTH) };
}

function toBlocked(reason: string): FailedResult {
  const message = 'a filter refused the prompt or left nothing of the answer';
  return toFailed('safety_blocked', { code: null, name: null, message }, readSafeText(reason, MAX_ID_LENGTH));
}

function withResponse(failed: FailedResult, endpoint: Endpoint, place: JsonPlace, response: JsonObject): FailedResult {
  if (Object.keys(response).length === 0) return failed;
  const usage = readUsage(endpoint, response);
  return { ...failed, body: sliceResponse(place), ...(usage !== null && { usage }) };
}

function sliceResponse(place: JsonPlace): string {
  return slicePlace(place) ?? '{}';
}
