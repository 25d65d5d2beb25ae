import { type RpcStatus, rpcCodeName } from './rpc-status.ts';

/*
 * What Google's words mean to us, where they say more than the code beside them. Codes are coarse: a spent account and a
 * busy minute are both RESOURCE_EXHAUSTED. The words are from the Gemini API's troubleshooting and rate-limit pages and
 * from public reports.
 */

export type ErrorMeaning = 'account' | 'credential' | 'queue' | 'size' | 'context' | 'file' | 'model';

const ACCOUNT =
  /prepay|credits? (?:is|are|have been) (?:depleted|exhausted)|spend(?:ing)? (?:cap|limit)|enable billing/i;
const CREDENTIAL = /api key (?:not valid|not found|expired|is invalid)|API_KEY_(?:INVALID|EXPIRED)/i;
/** Work that is enqueued or running at once, and quotas that only the next day fills up again: waits of minutes or hours. */
const QUEUE = /batch|enqueued|concurrent|per ?day|daily/i;
const PER_MINUTE = /per ?minute/i;
/** Batches over their quota of enqueued tokens are refused with these words, without a quota's name or a delay. */
const UNNAMED_QUOTA = /exceeded your current quota/i;
const SIZE =
  /payload size|too large|size (?:of .{1,40} )?exceeds|exceeds (?:the (?:maximum )?(?:allowed )?(?:file )?size|(?:the limit of )?[0-9][0-9,]* ?bytes)/i;
const CONTEXT = /token count .{0,40}exceeds|exceeds the maximum number of (?:input )?tokens/i;
/** A file that is gone or not yet known is said with 400, 403 and 404 alike. */
const FILE = /it may not exist|\bfiles?\b.{0,80}(?:not exist|not found|has expired|was deleted)/i;
const MODEL = /\bmodels?\b.{0,120}(?:not found|not supported|no longer available|does not exist)/i;

/** Null where the words add nothing. */
export function findMeaning(status: RpcStatus): ErrorMeaning | null {
  const words = `${status.message ?? ''} ${status.details}`;
  if (ACCOUNT.test(words)) return 'account';
  if (CREDENTIAL.test(words)) return 'credential';
  if (isExhausted(status)) return isQueue(status, words) ? 'queue' : null;
  if (CONTEXT.test(words)) return 'context';
  if (SIZE.test(words)) return 'size';
  if (FILE.test(words)) return 'file';
  return MODEL.test(words) ? 'model' : null;
}

function isExhausted(status: RpcStatus): boolean {
  return status.code === 429 || rpcCodeName(status) === 'RESOURCE_EXHAUSTED';
}

function isQueue({ retryDelayMs }: RpcStatus, words: string): boolean {
  if (PER_MINUTE.test(words)) return false;
  return QUEUE.test(words) || (retryDelayMs === null && UNNAMED_QUOTA.test(words));
}
