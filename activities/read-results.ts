import { hash } from 'node:crypto';
import type { AttemptRow } from '../db/attempts.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { StagedLine } from '../db/result-stage.ts';
import type { ShardRow } from '../db/shards.ts';
import type { UnmatchedLine } from '../db/unmatched-lines.ts';
import { decodeProviderItemId } from '../domain/attempt-token.ts';
import { isCutByDeadline } from '../domain/execution-times.ts';
import { type FailureCode, failureClassOf } from '../domain/failure.ts';
import { FAILURE_MESSAGES } from '../domain/failure-messages.ts';
import { itemStateCode } from '../domain/item-state.ts';
import type { Amount } from '../domain/money.ts';
import type { PriceRow } from '../domain/price-row.ts';
import { type PriceMode, priceUsage } from '../domain/pricing.ts';
import type { Endpoint } from '../domain/provider.ts';
import { keepsContent } from '../domain/storage-terms.ts';
import { type RawUsage, sanitiseUsage, type Usage, ZERO_USAGE } from '../domain/usage.ts';
import type { JsonlLine } from '../providers/jsonl.ts';
import type { BatchProvider, LineResult, ResultLine } from '../providers/provider.ts';

/** A line that names an item of this batch, before its usage is made chargeable. */
export interface MatchedLine {
  readonly itemNo: number;
  readonly line: number;
  readonly result: LineResult;
  /** False for a line of which only the id can be read: any other line of the item says more. */
  readonly isReadable: boolean;
  /** That it was cancelled is the doing of the job's own deadline. */
  readonly isCutByDeadline?: boolean;
}

export interface ReadLines {
  readonly matched: MatchedLine[];
  readonly unmatched: Omit<UnmatchedLine, 'file'>[];
  /** Unmatched lines that name an item of another attempt, or of somebody else's. */
  foreign: number;
}

const COMPLETED = itemStateCode('completed');
const FAILED = itemStateCode('failed');
const EXPIRED = itemStateCode('expired');
const CANCELLED = itemStateCode('cancelled');

/**
 * Reads lines by the id in each, never by order. Only ids with the token of the batch being read, inside the shard's
 * range, are its own; every other line is kept apart, visible and never charged. A line that is cut, garbled or no UTF-8
 * still belongs to the item whose id stands at its beginning.
 */
export function matchLines(
  provider: BatchProvider,
  { job, shard, attempt }: { job: JobRow; shard: ShardRow; attempt: AttemptRow },
  lines: readonly JsonlLine[],
): ReadLines {
  const read: ReadLines = { matched: [], unmatched: [], foreign: 0 };
  const isCut = isCutByDeadline(job, attempt.endedAt);
  for (const { line, ...content } of lines) {
    const decoded = readLine(provider, job.endpoint, content);
    const id = decodeProviderItemId(decoded.providerItemId);
    const isOurs =
      id !== null &&
      id.token === attempt.attemptToken &&
      id.itemNo >= shard.firstItemNo &&
      id.itemNo <= shard.lastItemNo;
    if (isOurs) {
      const isReadable = decoded.kind === 'result';
      const result = isReadable ? decoded.result : malformed(decoded.reason);
      read.matched.push({ itemNo: id.itemNo, line, result, isReadable, ...(isCut && { isCutByDeadline: true }) });
    } else {
      const reason = decoded.kind === 'unreadable' ? decoded.reason : 'names no item of this batch';
      if (decoded.providerItemId !== null && id?.token !== attempt.attemptToken) read.foreign += 1;
      read.unmatched.push(
        toKeptLine(job, { line, reason, providerItemId: decoded.providerItemId, raw: content.bytes }),
      );
    }
  }
  return read;
}

/** As much of an odd line as the job's policy lets be kept: of one that keeps no content, an id that looks like an id. */
export function toKeptLine<Line extends Omit<UnmatchedLine, 'file'>>(
  { terms }: Pick<JobRow, 'terms'>,
  line: Line,
): Line {
  if (keepsContent(terms.storage)) return line;
  const { providerItemId } = line;
  const isId = providerItemId !== null && decodeProviderItemId(providerItemId) !== null;
  return { ...line, raw: NO_BYTES, providerItemId: isId ? providerItemId : null };
}

const NO_BYTES = new Uint8Array();

/** Bytes that are no UTF-8 are never taken for a result, only looked through for the id. */
function readLine(provider: BatchProvider, endpoint: Endpoint, line: Omit<JsonlLine, 'line'>): ResultLine {
  if (line.text !== null) return provider.decodeLine(endpoint, line.text);
  if (line.isTooLong) return { kind: 'unreadable', reason: 'line too long', providerItemId: null };
  const { providerItemId } = provider.decodeLine(endpoint, Buffer.from(line.bytes).toString('utf8'));
  return { kind: 'unreadable', reason: 'not valid UTF-8', providerItemId };
}

function malformed(reason: string): LineResult {
  const code = 'malformed_result';
  return {
    kind: 'failed',
    class: failureClassOf(code),
    code,
    message: reason,
    nativeType: null,
    nativeCode: null,
    statusCode: null,
  };
}

/** Item numbers whose lines bill something without saying a chargeable usage: those need their estimates. */
export function itemsWithoutUsage(lines: readonly MatchedLine[]): number[] {
  return lines
    .filter(({ result }) => isBilled(result) && chargeable(result, NO_ESTIMATE).estimated)
    .map(({ itemNo }) => itemNo);
}

const NO_ESTIMATE = { inputTokens: 0, outputTokens: 0 };

function isBilled(result: LineResult): result is LineResult & { usage: RawUsage | null } {
  return result.kind === 'completed' || (result.kind === 'failed' && result.usage !== undefined);
}

function chargeable(result: LineResult, estimate: { inputTokens: number; outputTokens: number }): Usage {
  return isBilled(result) ? sanitiseUsage(result.usage, estimate) : ZERO_USAGE;
}

/** Prices a line by its own usage and tier, and gives it the form it settles in. */
export function toStagedLine(
  { itemNo, line, result, isReadable, isCutByDeadline: isCut = false }: MatchedLine,
  file: number,
  {
    price,
    priceMode,
    model,
    estimate,
    priceForCustomer = null,
    keepsContent: keeps = true,
  }: {
    price: PriceRow;
    priceMode: PriceMode;
    model: string;
    estimate: { inputTokens: number; outputTokens: number } | undefined;
    priceForCustomer?: ((usage: Usage, amount: Amount) => Amount) | null;
    /** False leaves out all that a provider wrote; its hash stays. */
    keepsContent?: boolean;
  },
): StagedLine {
  const usage = chargeable(result, estimate ?? NO_ESTIMATE);
  const amount = priceUsage(price, usage, priceMode);
  const base = { itemNo, file, line, usage, amount, customerAmount: priceForCustomer?.(usage, amount) ?? null };
  const nothing = { responseHash: null, body: null, nativeError: null };
  switch (result.kind) {
    case 'completed': {
      const responseHash = hash('sha256', result.body);
      return {
        ...base,
        rank: 0,
        state: COMPLETED,
        failureClass: '',
        errorCode: '',
        model: result.model ?? model,
        responseHash,
        body: keeps ? result.body : null,
        errorMessage: null,
        nativeError: null,
      };
    }
    case 'failed': {
      const { nativeType, nativeCode, statusCode, message } = result;
      const body = result.body ?? null;
      const responseHash = body === null ? null : hash('sha256', body);
      const nativeError = JSON.stringify({ type: nativeType, code: nativeCode, status: statusCode, message });
      return {
        ...base,
        rank: isReadable ? 1 : 3,
        state: FAILED,
        ...failed(result.code),
        model,
        responseHash,
        body: keeps ? body : null,
        nativeError: keeps ? nativeError : null,
      };
    }
    case 'expired':
      return { ...base, ...nothing, rank: 2, state: EXPIRED, ...failed('batch_expired'), model };
    case 'cancelled':
      if (isCut) return { ...base, ...nothing, rank: 2, state: EXPIRED, ...failed('deadline'), model };
      return { ...base, ...nothing, rank: 2, state: CANCELLED, ...failed('provider_cancelled'), model };
  }
}

function failed(code: FailureCode): { failureClass: string; errorCode: string; errorMessage: string } {
  return { failureClass: failureClassOf(code), errorCode: code, errorMessage: FAILURE_MESSAGES[code] };
}
