import { deriveStatus } from './job-state.ts';
import { isShardOpen, type ShardState } from './shard-state.ts';

/** Where the time of a shard, and of a job, goes. */
export const STAGES = ['queued', 'running', 'finalizing'] as const;
export type Stage = (typeof STAGES)[number];

/** `queued` until the provider computes, `finalizing` once it has; null for a shard that is done with. */
export function stageOfShard(state: ShardState): Stage | null {
  return isShardOpen(state) ? stageOfJob([state]) : null;
}

/** As the job's status would show it if nobody had asked for a cancel. */
export function stageOfJob(shards: readonly ShardState[], awaitsRetry = false): Stage {
  const status = deriveStatus(shards, false, awaitsRetry);
  return status === 'running' || status === 'finalizing' ? status : 'queued';
}
