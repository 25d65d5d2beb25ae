import { batchJobWorkflowId } from './ids.ts';
import type { BatchJobInput } from './messages.ts';
import { searchAttributes } from './search-attributes.ts';
import { WORKFLOW_QUEUE } from './task-queues.ts';

export interface StartableJob {
  readonly jobId: string;
  readonly submissionNo: number;
  readonly tenantId: string;
  readonly customerId: string | null;
  readonly model: string;
  readonly itemCount: number;
}

/** Temporal's limit on a fairness key is 64 bytes; a tenant may choose a longer id. */
const MAX_FAIRNESS_KEY_CHARS = 16;

/**
 * Everything a `batchJob` is started with but the conflict policy. A closed run of the same id may be followed by a
 * new one: a resubmit after a refusal, and a recovery, both are.
 */
export function batchJobStart(job: StartableJob, { recover }: { recover: boolean }) {
  const input: BatchJobInput = { v: 1, jobId: job.jobId, submissionNo: job.submissionNo, ...(recover && { recover }) };
  return {
    workflowId: batchJobWorkflowId(job.jobId),
    taskQueue: WORKFLOW_QUEUE,
    args: [input] as [BatchJobInput],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: `${job.tenantId} · ${job.itemCount} items · ${job.model}`,
    typedSearchAttributes: [
      { key: searchAttributes.tenant, value: job.tenantId },
      ...(job.customerId === null ? [] : [{ key: searchAttributes.customer, value: job.customerId }]),
      { key: searchAttributes.model, value: job.model },
      { key: searchAttributes.status, value: 'validating' },
    ],
    priority: { fairnessKey: fairnessKey(job.tenantId) },
  };
}

/** Tenants whose ids share a long beginning share a turn: fairness bends a little, nothing else does. */
function fairnessKey(tenantId: string): string {
  return [...tenantId].slice(0, MAX_FAIRNESS_KEY_CHARS).join('');
}
