import { ParentClosePolicy } from '@temporalio/workflow';
import type { ShardsView } from '../activities/interfaces.ts';
import { providerBatchWorkflowId } from './ids.ts';
import type { BatchJobInput, ProviderBatchInput } from './messages.ts';
import { ownAttribute } from './own-attribute.ts';
import { searchAttributes } from './search-attributes.ts';

type StartableShard = ShardsView['toStart'][number];

/** Everything a job starts a shard's `providerBatch` with. A closed run of the same id may be followed by a new one. */
export function shardStart(job: BatchJobInput, { shard, provider, providerModel, items }: StartableShard) {
  const { jobId, maxHistoryEvents } = job;
  const limit = maxHistoryEvents === undefined ? {} : { maxHistoryEvents };
  const input: ProviderBatchInput = { v: 1, jobId, shard, provider, ...limit };
  return {
    workflowId: providerBatchWorkflowId(jobId, shard),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    // Terminating the job must not strand a paid batch.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    args: [input] as [ProviderBatchInput],
    staticSummary: `${provider}/${providerModel} · shard ${shard} · ${items} items`,
    typedSearchAttributes: [
      ...inherited(),
      { key: searchAttributes.provider, value: provider },
      { key: searchAttributes.model, value: providerModel },
      { key: searchAttributes.status, value: 'planned' },
    ],
  };
}

/** A child inherits no search attributes by itself. */
function inherited() {
  const { tenant, customer, submitted } = searchAttributes;
  return [tenant, customer, submitted].flatMap((key) => {
    const value = ownAttribute(key);
    return value === undefined ? [] : [{ key, value }];
  });
}
