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

/**
 * A status not in the table is `running`: results are never read from a state we do not know. Compatible providers
 * write the same words in capitals (Together docs).
 */
export function mapStatus(nativeStatus: string): { phase: BatchPhase; end: BatchEnd | null } {
  const status = nativeStatus.toLowerCase();
  return Object.hasOwn(PHASES, status) ? (PHASES[status] ?? RUNNING) : RUNNING;
}

const RUNNING = { phase: 'running', end: null } as const;
