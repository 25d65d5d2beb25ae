/** Workflow ids from domain ids. An id names the thing, never the run, so a signal reaches whichever run is live. */

export function batchJobWorkflowId(jobId: string): string {
  return `batch-job/${jobId}`;
}

export function providerBatchWorkflowId(jobId: string, shard: number): string {
  return `provider-batch/${jobId}/${shard}`;
}
