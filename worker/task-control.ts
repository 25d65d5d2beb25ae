import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { TaskControl } from '../activities/dependencies.ts';
import { asyncTaskWorkflowId } from '../workflows/ids.ts';
import { taskChangedSignal } from '../workflows/messages.ts';
import { asyncTaskStart } from '../workflows/start-options.ts';

export function createTaskControl(client: Client): TaskControl {
  return {
    start: async (task) => {
      try {
        await client.workflow.start('asyncTask', { ...asyncTaskStart(task), workflowIdConflictPolicy: 'FAIL' });
        return true;
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
        throw error;
      }
    },
    wake: async (taskId) => {
      try {
        await client.workflow.getHandle(asyncTaskWorkflowId(taskId)).signal(taskChangedSignal);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  };
}
