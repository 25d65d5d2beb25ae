import type { BatchEnd, BatchPhase } from '../../domain/batch-phase.ts';

/** OpenAI Batch API docs, `batch.status`. */
const PHASES: Readonly<Record<string, { phase: BatchPhase; end: BatchEnd | null }>> = {
  validating: { phase: 'validating', end: null },
  in_progress: { phase: 'running', end: null },
  finalizing: { phase: 'finalizing', end: null },
  cancelling: { phase: 'cancelling', end: null },
  completed: { phase: 'ended', end: 'completed' },
  failed: { phase: 'ended', end: 'failed' },
  expired: { phase: 'ended', end: 'expired' },
  cancelled: { phase: 'ended', end: 'cancelled' },
};

/** A status not in the table is `running`: results are never read from a state we do not know. */
export function mapStatus(nativeStatus: string): { phase: BatchPhase; end: BatchEnd | null } {
  return Object.hasOwn(PHASES, nativeStatus) ? (PHASES[nativeStatus] ?? RUNNING) : RUNNING;
}

const RUNNING = { phase: 'running', end: null } as const;
