import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { JobWorkflowControl } from '../activities/dependencies.ts';
import { batchJobWorkflowId } from '../workflows/ids.ts';
import { cancelSignal } from '../workflows/messages.ts';
import { batchJobStart } from '../workflows/start-options.ts';

/** The sweeps' hold on job workflows. */
export function createJobWorkflowControl(client: Client): JobWorkflowControl {
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
      try {
        await client.workflow.getHandle(batchJobWorkflowId(jobId)).signal(cancelSignal, { by: 'sweep' });
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  };
}
