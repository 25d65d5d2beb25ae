import type { NativeBatch } from '../provider.ts';
import { readSafeText } from '../safe-text.ts';
import { COUNT_NAMES, type RequestCounts, readCounts, sumCounts } from './request-counts.ts';
import { mapStatus } from './status.ts';
import type { BatchReply } from './wire.ts';

const MAX_CODE_LENGTH = 100;

/**
 * A batch as Anthropic describes it, in our words. A reply without a status is a batch in a state we do not know.
 *
 * `outputFileId` is the batch's own id once it has results to read: from the end of the whole batch until they are
 * archived, 29 days after its creation (Anthropic batch processing docs). There is no queue to be refused by later: a
 * full one is an answer to the create.
 */
export function toNativeBatch(reply: BatchReply): NativeBatch {
  const nativeStatus = readSafeText(reply.processing_status, MAX_CODE_LENGTH) ?? 'unknown';
  const counts = readCounts(reply.request_counts);
  const { phase, end } = mapStatus(nativeStatus, { counts, isCancelInitiated: Boolean(reply.cancel_initiated_at) });
  return {
    providerBatchId: reply.id,
    phase,
    end,
    nativeStatus,
    nativeCounts: readNativeCounts(reply.request_counts),
    progress: counts === null ? null : readProgress(counts),
    createdAt: readTime(reply.created_at),
    expiresAt: readTime(reply.expires_at),
    inputFileId: null,
    outputFileId: end !== null && hasResults(reply) ? reply.id : null,
    errorFileId: null,
    operationName: null,
    validationErrors: [],
    capacityRefused: false,
  };
}

/** RFC 3339; null where it is no date. */
export function readTime(value: unknown): Date | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time);
}

export function hasResults({ results_url: url, archived_at: archivedAt }: BatchReply): boolean {
  return Boolean(url) && !archivedAt;
}

/** As long as everything is `processing` nothing is known of the progress: it says the same of a batch all but done. */
function readProgress(counts: RequestCounts): NativeBatch['progress'] {
  const total = sumCounts(counts);
  return counts.processing === total ? null : { total, completed: counts.succeeded, failed: counts.errored };
}

/** As they came, but for what no column could hold. */
function readNativeCounts(counts: Readonly<Record<string, unknown>> | null | undefined): NativeBatch['nativeCounts'] {
  if (!counts) return null;
  return Object.fromEntries(
    COUNT_NAMES.map((name) => {
      const count = counts[name];
      return [name, typeof count === 'number' ? count : readSafeText(count, MAX_CODE_LENGTH)];
    }),
  );
}
