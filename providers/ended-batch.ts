import type { BatchEnd } from '../domain/batch-phase.ts';
import type { NativeBatch } from './provider.ts';

/** What is kept of a batch once it has ended. */
export interface EndedBatch extends Pick<NativeBatch, 'inputFileId' | 'outputFileId' | 'errorFileId' | 'expiresAt'> {
  readonly providerBatchId: string | null;
  readonly nativeStatus: string | null;
  readonly batchEnd: BatchEnd | null;
}

/** An ended batch as an adapter speaks of it. */
export function endedBatch(kept: EndedBatch): NativeBatch {
  return {
    providerBatchId: kept.providerBatchId ?? '',
    phase: 'ended',
    end: kept.batchEnd ?? 'completed',
    nativeStatus: kept.nativeStatus ?? '',
    nativeCounts: null,
    progress: null,
    createdAt: null,
    expiresAt: kept.expiresAt,
    inputFileId: kept.inputFileId,
    outputFileId: kept.outputFileId,
    errorFileId: kept.errorFileId,
    operationName: null,
    validationErrors: [],
    capacityRefused: false,
  };
}
