import { ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';

/**
 * Runs some sweeps one after the other. One that fails keeps none of the others from running, and fails the run at its
 * end, with what the others did as details.
 */
export async function runEach<Result>(sweeps: Record<string, () => Promise<Result>>): Promise<Record<string, Result>> {
  const results: Record<string, Result> = {};
  const failed: string[] = [];
  for (const [name, run] of Object.entries(sweeps)) {
    try {
      results[name] = await run();
    } catch (error) {
      if (isCancellation(error) && CancellationScope.current().consideredCancelled) throw error;
      failed.push(name);
    }
  }
  if (failed.length === 0) return results;
  throw ApplicationFailure.nonRetryable(`could not sweep: ${failed.join(', ')}`, 'sweep_failed', results);
}
