import { condition, patched, proxyActivities } from '@temporalio/workflow';
import type { JobActivities, JobRef } from '../activities/interfaces.ts';
import { BULK_DATABASE_POLICY } from './policies.ts';

const bulk = (summary: string) => proxyActivities<JobActivities>({ ...BULK_DATABASE_POLICY, summary });
const { planWave } = bulk('see which failed items are tried again');
const { startWave } = bulk('make the items and shards of the next try');

/** What a wave needs of the job's run. */
export interface WaveScene {
  readonly job: JobRef;
  /** Whether a cancel was heard that the job's row does not show yet. */
  readonly hasNewCancel: () => boolean;
  readonly recordCancel: () => Promise<void>;
  readonly showWait: () => void;
}

/**
 * Tries failed items again where the job's policy and hold allow it: true once there are shards of theirs. A cancel ends
 * the wait, and then nothing is sent.
 */
export async function tryAgain({ job, hasNewCancel, recordCancel, showWait }: WaveScene): Promise<boolean> {
  // Runs from before there were waves went on to their end here.
  if (!patched('retry-waves')) return false;
  await recordCancel();
  const plan = await planWave(job);
  if (plan.kind === 'none') return false;
  showWait();
  const { wave, items, delayMs } = plan;
  if (delayMs > 0) await condition(hasNewCancel, delayMs, { summary: `wave ${wave}: ${items} items again` });
  await recordCancel();
  const { started } = await startWave({ ...job, wave });
  return started;
}
