import type { Endpoint } from '../../domain/provider.ts';
import { type JsonPlace, slicePlace } from '../json-place.ts';
import type { LineResult, ResultLine } from '../provider.ts';
import { MAX_ID_LENGTH, readResultLine } from '../result-line.ts';
import { readSafeText } from '../safe-text.ts';
import { classifyItemFailure, type ItemError, readItemError, toFailed } from './item-failure.ts';
import { isRecord, judgeBody } from './result-body.ts';
import { readUsage } from './usage.ts';

type Json = Readonly<Record<string, unknown>>;
type FailedResult = Extract<LineResult, { kind: 'failed' }>;

/** The documented beginning of a line, from which a line cut or garbled further on can still be told. */
const LINE_START = /^\s*\{(?:\s*"id"\s*:\s*"[^"\\]*"\s*,)?\s*"custom_id"\s*:\s*"([^"\\]{1,256})"/;

/** Codes of a line that never ran (OpenAI Batch API docs; the second spelling and the cancel code from public reports). */
const NEVER_RAN: ReadonlyMap<string, LineResult> = new Map([
  ['batch_expired', { kind: 'expired' }],
  ['batch_cancelled', { kind: 'cancelled' }],
  ['batch_canceled', { kind: 'cancelled' }],
]);

/**
 * One line of an output or error file. The line alone decides, never the file it stands in, for OpenAI has put failures in
 * either; never its order either, only its `custom_id`. Hand-written checks: this runs for every result.
 *
 * Status 200 with the endpoint's shape is completed, also where a filter or the length cut the answer. A filtered answer
 * of which nothing is left is failed as `safety_blocked`, an incomplete one as `malformed_result`; both carry the usage
 * they report, since OpenAI bills it.
 */
export function decodeLine(endpoint: Endpoint, line: string): ResultLine {
  return readResultLine(line, { idMember: 'custom_id', lineStart: LINE_START }, (parsed) =>
    decodeResult(endpoint, line, parsed),
  );
}

function decodeResult(endpoint: Endpoint, line: string, parsed: Json): LineResult {
  const response = isRecord(parsed['response']) ? parsed['response'] : {};
  return decodeReply(endpoint, {
    statusCode: readStatusCode(response['status_code']),
    body: response['body'],
    place: { json: line, path: ['response', 'body'] },
    lineError: readItemError(parsed['error']),
  });
}

/** What an endpoint replied, in a result line or by itself. */
export interface EndpointReply {
  statusCode: number | null;
  body: unknown;
  /** Where the text of the body stands. */
  place: JsonPlace;
  /** The error of the line around it. */
  lineError: ItemError | null;
}

/** The result of one request, as {@link decodeLine} tells it. */
export function decodeReply(endpoint: Endpoint, { statusCode, body, place, lineError }: EndpointReply): LineResult {
  const isSuccess = statusCode === null ? lineError === null : statusCode >= 200 && statusCode < 300;
  if (isSuccess && isRecord(body)) {
    const verdict = judgeBody(endpoint, body);
    if (verdict === 'complete') return toCompleted(endpoint, place, body);
    if (verdict === 'cancelled') return { kind: 'cancelled' };
    if (verdict === 'blocked') return withBody(toBlocked(statusCode), endpoint, place, body);
  }
  const error = findError(body, lineError, isSuccess);
  const neverRan = NEVER_RAN.get(error?.code ?? '');
  if (neverRan !== undefined) return neverRan;
  const failed =
    error === null && statusCode !== null && isSuccess
      ? toFailed('malformed_result', { type: null, code: null, message: 'the result has no complete body' }, statusCode)
      : classifyItemFailure(error, statusCode);
  return withBody(failed, endpoint, place, body);
}

function toCompleted(endpoint: Endpoint, place: JsonPlace, body: Json): LineResult {
  return {
    kind: 'completed',
    body: sliceBody(place),
    usage: readUsage(endpoint, body['usage']),
    model: readSafeText(body['model'], MAX_ID_LENGTH),
  };
}

function toBlocked(statusCode: number | null): FailedResult {
  const error = { type: null, code: 'content_filter', message: 'the content filter left nothing of the answer' };
  return toFailed('safety_blocked', error, statusCode);
}

/** A refused request explains itself in the body, one that never ran in the line. */
function findError(body: unknown, lineError: ItemError | null, isSuccess: boolean): ItemError | null {
  const inBody = isRecord(body) ? readItemError(body['error']) : null;
  if (inBody !== null || lineError !== null) return inBody ?? lineError;
  return typeof body === 'string' && !isSuccess ? readItemError(body) : null;
}

function withBody(failed: FailedResult, endpoint: Endpoint, place: JsonPlace, body: unknown): FailedResult {
  if (!isRecord(body) || Object.keys(body).length === 0) return failed;
  const usage = isRecord(body['usage']) ? readUsage(endpoint, body['usage']) : null;
  return { ...failed, body: sliceBody(place), ...(usage !== null && { usage }) };
}

function sliceBody(place: JsonPlace): string {
  return slicePlace(place) ?? '{}';
}

/** 0 was seen for a request of which nothing is known, so it is no status. */
function readStatusCode(value: unknown): number | null {
  const status = typeof value === 'string' && /^[0-9]{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status > 0 && status < 1000 ? status : null;
}
