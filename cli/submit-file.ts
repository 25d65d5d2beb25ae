import type { CreateJob } from '../contracts/create-job.ts';
import type { BatchJob } from '../contracts/job.ts';
import { CommandError } from './errors.ts';
import type { TenantCalls } from './gateway.ts';

export interface Draft {
  readonly job: BatchJob;
  readonly items: number;
}

/** Makes a draft of the items, or leaves nothing behind. Throws what the making of `lines` throws, or the gateway's refusal. */
export async function makeDraft(
  calls: Pick<TenantCalls, 'createJob' | 'uploadManifest' | 'deleteJob'>,
  wanted: CreateJob,
  lines: AsyncIterable<Uint8Array>,
): Promise<Draft> {
  const job = await calls.createJob(wanted);
  let fault: unknown;
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* lines;
    } catch (error) {
      fault = error;
      throw error;
    }
  }
  try {
    const { total } = await calls.uploadManifest(job.job_id, watched());
    return { job, items: total };
  } catch (error) {
    await calls.deleteJob(job.job_id).catch(() => undefined);
    // The connection breaks with our own fault; that one says why.
    throw fault ?? error;
  }
}

/** Refusals that may pass without a change to the job. */
const MAY_PASS = [
  'budget_exceeded',
  'no_credential',
  'spending_suspended',
  'tenant_suspended',
  'rate_limited',
  'concurrency_limit',
];

/**
 * Submits a draft just made. Where it is refused for good nothing is left of it, since a draft's model and limits cannot
 * be changed; where a later submit may do, it is kept and the error says so. With `sample` the answer is the job of one,
 * and the draft is kept.
 */
export async function submitNewDraft(
  calls: Pick<TenantCalls, 'submit' | 'deleteJob'>,
  jobId: string,
  program: string,
  sample?: number,
): Promise<BatchJob> {
  try {
    return await calls.submit(jobId, sample);
  } catch (error) {
    if (!(error instanceof CommandError) || error.exit !== 'refused') throw error;
    if (!MAY_PASS.includes(error.facts.error)) {
      await calls.deleteJob(jobId).catch(() => undefined);
      throw error;
    }
    const option = sample === undefined ? '' : ` --sample ${sample}`;
    const fix = `The draft is kept: "${program} submit ${jobId}${option}" tries again.`;
    throw new CommandError('refused', { ...error.facts, fix: error.facts.fix ?? fix }, { cause: error });
  }
}
