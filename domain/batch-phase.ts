import type { ShardState } from './shard-state.ts';

/** What a provider's batch is doing, in our words. An unknown native status is `running`: never read results from a state we do not know. */
export type BatchPhase = 'validating' | 'running' | 'finalizing' | 'cancelling' | 'ended';
export type BatchEnd = 'completed' | 'failed' | 'expired' | 'cancelled';

/** The state of a shard whose batch is in the phase. */
export function shardStateOfPhase(phase: BatchPhase): ShardState {
  return phase === 'ended' ? 'ingesting' : phase;
}
