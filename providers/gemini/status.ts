import type { BatchEnd, BatchPhase } from '../../domain/batch-phase.ts';

interface Stage {
  phase: BatchPhase;
  end: BatchEnd | null;
}

/** `BATCH_STATE_*` on the wire, `JOB_STATE_*` in the SDK and with Vertex, by what follows (@google/genai, `JobState`). */
const STAGES: Readonly<Record<string, Stage>> = {
  QUEUED: { phase: 'validating', end: null },
  PENDING: { phase: 'validating', end: null },
  RUNNING: { phase: 'running', end: null },
  PAUSED: { phase: 'running', end: null },
  UPDATING: { phase: 'running', end: null },
  CANCELLING: { phase: 'cancelling', end: null },
  SUCCEEDED: { phase: 'ended', end: 'completed' },
  PARTIALLY_SUCCEEDED: { phase: 'ended', end: 'completed' },
  FAILED: { phase: 'ended', end: 'failed' },
  CANCELLED: { phase: 'ended', end: 'cancelled' },
  EXPIRED: { phase: 'ended', end: 'expired' },
};

/** A state not in the table is `running`: results are never read from a state we do not know. */
export function mapStatus(nativeStatus: string): Stage {
  return findStage(nativeStatus) ?? { phase: 'running', end: null };
}

/** Null for a state not in the table. */
export function findStage(nativeStatus: string): Stage | null {
  const state = nativeStatus.replace(/^(?:BATCH|JOB)_STATE_/, '');
  return Object.hasOwn(STAGES, state) ? (STAGES[state] ?? null) : null;
}
