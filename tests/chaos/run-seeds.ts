import { type ChaosStack, startChaosStack } from './chaos-stack.ts';
import { describeFailure, summarizeSeed } from './describe-seed.ts';
import { planSeed } from './plan.ts';
import { playSeed, type SeedResult } from './play-seed.ts';

export interface SeedsRun {
  readonly seeds: readonly number[];
  readonly keepLogs?: boolean;
  /** Told of every seed as it ends, and of where logs were kept. */
  readonly say: (text: string) => void;
  readonly onSeed?: (result: SeedResult) => Promise<void>;
  /** Ends the run after the seed under way. */
  readonly signal?: AbortSignal;
}

/**
 * Plays the seeds one after the other on one stack. After one that failed a new stack is started, since its jobs may
 * still be under way on the old one. Resolves with the seeds that failed.
 */
export async function runSeeds({ seeds, say, onSeed, signal, keepLogs = false }: SeedsRun): Promise<SeedResult[]> {
  const failed: SeedResult[] = [];
  let stack: ChaosStack | null = null;
  const stop = async (): Promise<void> => {
    if (stack !== null && keepLogs) say(`logs: ${stack.directory}/*.log`);
    await stack?.stop({ keepFolder: keepLogs });
    stack = null;
  };
  try {
    for (const seed of seeds) {
      if (signal?.aborted === true) break;
      stack ??= await startChaosStack();
      const result = await playSeed(stack, planSeed(seed));
      const isSound = result.broken.length === 0;
      say(isSound ? summarizeSeed(result) : describeFailure(result));
      await onSeed?.(result);
      if (isSound) continue;
      failed.push(result);
      await stop();
    }
  } finally {
    await stop();
  }
  return failed;
}
