import { isJsonObject } from '../../domain/json-object.ts';
import { readSafeText } from '../safe-text.ts';
import { parseDurationMs } from './duration.ts';

/** What Google says went wrong, in error replies, failed operations and result lines alike. */
export interface RpcStatus {
  /** A gRPC number (0 to 16), or an HTTP status where a reply puts that in its place. */
  code: number | null;
  /** Such as `INVALID_ARGUMENT`. */
  name: string | null;
  message: string | null;
  /** The telling words of `details[]`: reasons, quotas, descriptions. */
  details: string;
  /** RetryInfo. */
  retryDelayMs: number | null;
}

const MAX_WORD_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 4000;
const MAX_DETAILS = 20;

/** google/rpc/code.proto, by number. */
const NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;
export type RpcCodeName = (typeof NAMES)[number];

/** google.rpc.Status, also with the `status` word that error replies add. Null where `value` holds no word of it. */
export function readRpcStatus(value: unknown): RpcStatus | null {
  if (typeof value === 'string') {
    const message = readSafeText(value, MAX_MESSAGE_LENGTH);
    return message === null ? null : { code: null, name: null, message, details: '', retryDelayMs: null };
  }
  if (!isJsonObject(value)) return null;
  const code = readCode(value['code']);
  const name = readSafeText(value['status'], MAX_WORD_LENGTH) ?? (code === null ? null : (NAMES[code] ?? null));
  const message = readSafeText(value['message'], MAX_MESSAGE_LENGTH);
  if (code === null && name === null && message === null) return null;
  const details = Array.isArray(value['details']) ? value['details'].slice(0, MAX_DETAILS) : [];
  return {
    code,
    name,
    message,
    details: details.flatMap(wordsOf).join(' '),
    retryDelayMs: details.map(delayOf).find((delayMs) => delayMs !== null) ?? null,
  };
}

/** The gRPC code as a word, whether it came as a number, a word, or both. */
export function rpcCodeName({ code, name }: RpcStatus): RpcCodeName | null {
  return NAMES.find((known) => known === name) ?? (code === null ? null : (NAMES[code] ?? null));
}

function readCode(value: unknown): number | null {
  const code = typeof value === 'string' && /^[0-9]{1,3}$/.test(value) ? Number(value) : value;
  return typeof code === 'number' && Number.isInteger(code) && code >= 0 && code < 1000 ? code : null;
}

/** ErrorInfo, QuotaFailure and BadRequest (google/rpc/error_details.proto). */
function wordsOf(detail: unknown): string[] {
  if (typeof detail === 'string') return [detail.slice(0, MAX_WORD_LENGTH)];
  if (!isJsonObject(detail)) return [];
  const violations = [detail['violations'], detail['fieldViolations']].flatMap((list) =>
    Array.isArray(list) ? list.slice(0, MAX_DETAILS) : [],
  );
  return [detail, ...violations].flatMap((part) => {
    if (!isJsonObject(part)) return [];
    const { reason, quotaId, quotaMetric, description } = part;
    return [reason, quotaId, quotaMetric, description].flatMap((word) => readSafeText(word, MAX_WORD_LENGTH) ?? []);
  });
}

function delayOf(detail: unknown): number | null {
  return isJsonObject(detail) ? parseDurationMs(detail['retryDelay']) : null;
}
