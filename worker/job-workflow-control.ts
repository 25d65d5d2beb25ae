import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { JobWorkflowControl } from '../activities/dependencies.ts';
import { batchJobWorkflowId, providerBatchWorkflowId } from '../workflows/ids.ts';
import { cancelSignal, pollNowSignal } from '../workflows/messages.ts';
import { batchJobStart } from '../workflows/start-options.ts';

/** What sweeps and activities do to workflows from outside. */
export function createJobWorkflowControl(client: Client): JobWorkflowControl {
  async function unlessEnded(signalled: Promise<void>): Promise<void> {
    try {
      await signalled;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
  return {
    start: async (job) => {
      try {
        await client.workflow.start('batchJob', {
          ...batchJobStart(job, { recover: true }),
          workflowIdConflictPolicy: 'FAIL',
        });
        return true;
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
        throw error;
      }
    },
    signalCancel: (jobId) =>
      unlessEnded(client.workflow.getHandle(batchJobWorkflowId(jobId)).signal(cancelSignal, { by: 'sweep' })),
    wakeShard: (jobId, shard) =>
      unlessEnded(client.workflow.getHandle(providerBatchWorkflowId(jobId, shard)).signal(pollNowSignal)),
  };
}
