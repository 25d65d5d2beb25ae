import type { BatchEnd, BatchPhase } from '../../domain/batch-phase.ts';
import type { RequestCounts } from './request-counts.ts';

/**
 * What `processing_status` means (@anthropic-ai/sdk, `MessageBatch`). A status we do not know is `running`: results are
 * never read from a state we do not know.
 *
 * `ended` is the only terminal word, whatever the end was. The counts say which: `cancelled` where a request was
 * canceled, else `expired` where one expired, else `completed`, so that a cancel that came too late is none. Without
 * counts to go by, a batch whose cancel was initiated is `cancelled`. Failed requests end no batch.
 */
export function mapStatus(
  nativeStatus: string,
  { counts, isCancelInitiated }: { counts: RequestCounts | null; isCancelInitiated: boolean },
): { phase: BatchPhase; end: BatchEnd | null } {
  if (nativeStatus === 'ended') return { phase: 'ended', end: findEnd(counts, isCancelInitiated) };
  return { phase: nativeStatus === 'canceling' ? 'cancelling' : 'running', end: null };
}

function findEnd(counts: RequestCounts | null, isCancelInitiated: boolean): BatchEnd {
  if (counts === null) return isCancelInitiated ? 'cancelled' : 'completed';
  if (counts.canceled > 0) return 'cancelled';
  return counts.expired > 0 ? 'expired' : 'completed';
}
