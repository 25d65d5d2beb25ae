import type { NativeBatch, ValidationError } from '../provider.ts';
import { readSafeText } from '../safe-text.ts';
import { findMeaning } from './error-codes.ts';
import { mapStatus } from './status.ts';
import type { BatchFault, BatchReply } from './wire.ts';

const MAX_CODE_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 2000;

/** A batch as OpenAI describes it, in our words. A reply without a status is a batch in a state we do not know. */
export function toNativeBatch(reply: BatchReply): NativeBatch {
  const nativeStatus = readSafeText(reply.status, MAX_CODE_LENGTH) ?? 'unknown';
  const { phase, end } = mapStatus(nativeStatus);
  const validationErrors = (reply.errors?.data ?? []).map(toValidationError);
  const outputFileId = reply.output_file_id || null;
  const errorFileId = reply.error_file_id || null;
  return {
    providerBatchId: reply.id,
    phase,
    end,
    nativeStatus,
    nativeCounts: readNativeCounts(reply.request_counts),
    progress: readProgress(reply.request_counts),
    createdAt: readTime(reply.created_at),
    expiresAt: readTime(reply.expires_at),
    inputFileId: reply.input_file_id || null,
    outputFileId,
    errorFileId,
    operationName: null,
    validationErrors,
    // With a file something ran, and creating the batch anew would run it twice.
    capacityRefused:
      end === 'failed' &&
      outputFileId === null &&
      errorFileId === null &&
      validationErrors.length > 0 &&
      validationErrors.every(isQueueFull),
  };
}

/** Unix seconds, as a number or its digits; null where it is neither or no date. */
export function readTime(seconds: unknown): Date | null {
  const count = readCount(seconds);
  if (count === null || count === 0) return null;
  const time = new Date(count * 1000);
  return Number.isNaN(time.getTime()) ? null : time;
}

function toValidationError(fault: BatchFault): ValidationError {
  return {
    code: readSafeText(fault.code, MAX_CODE_LENGTH) ?? 'unknown',
    message: readSafeText(fault.message, MAX_MESSAGE_LENGTH) ?? '',
    line: fault.line ?? null,
    param: readSafeText(fault.param, MAX_CODE_LENGTH),
  };
}

function isQueueFull({ code, message }: ValidationError): boolean {
  return findMeaning({ type: null, code, message }) === 'queue';
}

/** Counts are hints (seen as strings, as zeros beside full files, and above their total): what makes no sense is null. */
function readProgress(counts: Readonly<Record<string, unknown>> | null | undefined): NativeBatch['progress'] {
  const total = readCount(counts?.['total']);
  const completed = readCount(counts?.['completed']);
  const failed = readCount(counts?.['failed']);
  if (total === null || completed === null || failed === null) return null;
  return total > 0 && completed + failed <= total ? { total, completed, failed } : null;
}

/** As they came, but for what no column could hold. */
function readNativeCounts(counts: Readonly<Record<string, unknown>> | null | undefined): NativeBatch['nativeCounts'] {
  if (!counts) return null;
  const { total, completed, failed } = counts;
  return Object.fromEntries(
    Object.entries({ total, completed, failed }).map(([name, count]) => [
      name,
      typeof count === 'number' ? count : readSafeText(count, MAX_CODE_LENGTH),
    ]),
  );
}

function readCount(value: unknown): number | null {
  const count = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}
