import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { DocumentRunControl } from '../activities/dependencies.ts';
import { documentRunWorkflowId } from '../workflows/ids.ts';
import { runChangedSignal } from '../workflows/messages.ts';
import { documentRunStart } from '../workflows/start-options.ts';

export function createDocumentRunControl(client: Client): DocumentRunControl {
  return {
    start: async (run) => {
      try {
        await client.workflow.start('documentRun', { ...documentRunStart(run), workflowIdConflictPolicy: 'FAIL' });
        return true;
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
        throw error;
      }
    },
    wake: async (runId) => {
      try {
        await client.workflow.getHandle(documentRunWorkflowId(runId)).signal(runChangedSignal);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  };
}
