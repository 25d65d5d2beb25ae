import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { JobWorkflowControl } from '../activities/dependencies.ts';
import { batchJobWorkflowId, providerBatchWorkflowId } from '../workflows/ids.ts';
import { cancelSignal, pollNowSignal } from '../workflows/messages.ts';
import { batchJobStart } from '../workflows/start-options.ts';

/** What sweeps and activities do to workflows from outside. */
export function createJobWorkflowControl(client: Client): JobWorkflowControl {
  /** False when there is no run to hear it. */
  async function unlessEnded(signalled: Promise<void>): Promise<boolean> {
    try {
      await signalled;
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
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
    signalCancel: async (jobId) => {
      await unlessEnded(client.workflow.getHandle(batchJobWorkflowId(jobId)).signal(cancelSignal, { by: 'sweep' }));
    },
    wakeShard: async (jobId, shard) => {
      await unlessEnded(client.workflow.getHandle(providerBatchWorkflowId(jobId, shard)).signal(pollNowSignal));
    },
    wakeJob: (jobId) => unlessEnded(client.workflow.getHandle(batchJobWorkflowId(jobId)).signal(pollNowSignal)),
    isShardRunning: async (jobId, shard) => {
      try {
        const { status } = await client.workflow.getHandle(providerBatchWorkflowId(jobId, shard)).describe();
        return status.name === 'RUNNING';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },
  };
}
