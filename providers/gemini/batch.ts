import type { NativeBatch, ValidationError } from '../provider.ts';
import { readSafeText } from '../safe-text.ts';
import { findMeaning } from './error-codes.ts';
import { type RpcStatus, readRpcStatus, rpcCodeName } from './rpc-status.ts';
import { findStage, mapStatus } from './status.ts';
import type { OperationReply, Output } from './wire.ts';

const MAX_CODE_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 2000;
/** A batch not finished by then expires, without results (Gemini batch docs). */
const EXPIRES_AFTER_MS = 48 * 3_600_000;

/** A long-running operation as the Gemini API describes it, in our words. One without a state or end is running. */
export function toNativeBatch(reply: OperationReply): NativeBatch {
  const { name, metadata } = reply;
  const error = readRpcStatus(reply.error);
  const state = readSafeText(metadata?.state, MAX_CODE_LENGTH);
  const { phase, end } = findEnd(reply, state, error);
  const outputFileId = findOutput(metadata?.output, name) ?? findOutput(reply.response, name);
  const createdAt = readTime(metadata?.createTime);
  return {
    providerBatchId: name,
    phase,
    end,
    nativeStatus: state ?? error?.name ?? 'unknown',
    nativeCounts: readNativeCounts(metadata?.batchStats),
    progress: readProgress(metadata?.batchStats),
    createdAt,
    expiresAt: createdAt === null ? null : new Date(createdAt.getTime() + EXPIRES_AFTER_MS),
    inputFileId: metadata?.inputConfig?.fileName || null,
    outputFileId,
    errorFileId: null,
    operationName: name,
    validationErrors: end === 'failed' && error !== null ? [toValidationError(error)] : [],
    // With results something ran, and creating the batch anew would run it twice.
    capacityRefused: end === 'failed' && outputFileId === null && error !== null && isForCapacity(error),
  };
}

/** RFC 3339; null where it is no time. */
export function readTime(value: string | null | undefined): Date | null {
  const time = value ? new Date(value) : null;
  return time === null || Number.isNaN(time.getTime()) ? null : time;
}

/** A known state decides; `done` only where there is none, for then the operation itself has ended (google.longrunning). */
function findEnd(reply: OperationReply, state: string | null, error: RpcStatus | null): ReturnType<typeof mapStatus> {
  if (state !== null && (findStage(state) !== null || !reply.done)) return mapStatus(state);
  if (!reply.done) return { phase: 'running', end: null };
  if (error === null) return { phase: 'ended', end: 'completed' };
  const name = rpcCodeName(error);
  if (name === 'CANCELLED') return { phase: 'ended', end: 'cancelled' };
  return { phase: 'ended', end: name === 'DEADLINE_EXCEEDED' ? 'expired' : 'failed' };
}

/** A file, or the batch itself where it carries its results: which of the two is the provider's choice. */
function findOutput(output: Output, name: string): string | null {
  if (output?.responsesFile) return output.responsesFile;
  const lists = [output?.inlinedResponses, output?.inlinedEmbedContentResponses];
  return lists.some((list) => Array.isArray(list?.inlinedResponses)) ? name : null;
}

function toValidationError(error: RpcStatus): ValidationError {
  const line = /\bline (?:number )?([1-9][0-9]{0,8})\b/i.exec(error.message ?? '')?.[1];
  return {
    code: readSafeText(error.name ?? error.code, MAX_CODE_LENGTH) ?? 'unknown',
    message: readSafeText(error.message, MAX_MESSAGE_LENGTH) ?? '',
    line: line === undefined ? null : Number(line),
    param: null,
  };
}

function isForCapacity(error: RpcStatus): boolean {
  return rpcCodeName(error) === 'RESOURCE_EXHAUSTED' && findMeaning(error) !== 'account';
}

/** Counts are hints: int64 as text, and a count of zero is left out. What makes no sense is null. */
function readProgress(stats: Readonly<Record<string, unknown>> | null | undefined): NativeBatch['progress'] {
  if (!stats) return null;
  const total = readCount(stats['requestCount']);
  const completed = readCount(stats['successfulRequestCount'] ?? 0);
  const failed = readCount(stats['failedRequestCount'] ?? 0);
  if (total === null || completed === null || failed === null) return null;
  return total > 0 && completed + failed <= total ? { total, completed, failed } : null;
}

/** As they came, but for what no column could hold. */
function readNativeCounts(stats: Readonly<Record<string, unknown>> | null | undefined): NativeBatch['nativeCounts'] {
  if (!stats) return null;
  const { requestCount, successfulRequestCount, failedRequestCount, pendingRequestCount } = stats;
  return Object.fromEntries(
    Object.entries({ requestCount, successfulRequestCount, failedRequestCount, pendingRequestCount })
      .filter(([, count]) => count !== undefined)
      .map(([name, count]) => [name, typeof count === 'number' ? count : readSafeText(count, MAX_CODE_LENGTH)]),
  );
}

function readCount(value: unknown): number | null {
  const count = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}
