import type { AttemptRow } from '../db/attempts.ts';
import type { NativeBatch } from '../providers/provider.ts';

/** An ended batch as its row keeps it. */
export function asLastPolled(attempt: AttemptRow): NativeBatch {
  return {
    providerBatchId: attempt.providerBatchId ?? '',
    phase: 'ended',
    end: attempt.batchEnd ?? 'completed',
    nativeStatus: attempt.nativeStatus ?? '',
    nativeCounts: null,
    progress: null,
    createdAt: null,
    expiresAt: attempt.expiresAt,
    inputFileId: attempt.inputFileId,
    outputFileId: attempt.outputFileId,
    errorFileId: attempt.errorFileId,
    operationName: null,
    validationErrors: [],
    capacityRefused: false,
  };
}
