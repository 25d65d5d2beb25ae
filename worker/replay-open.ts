import type { Client } from '@temporalio/client';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';

export interface ReplayReport {
  /** Open workflows whose history was replayed. */
  readonly runs: number;
  /** Those that the code cannot go on with: the workflow's id, and the first command that differs. */
  readonly broken: readonly string[];
}

/** Replays every open workflow of the client's namespace on other workflow code. Changes nothing. */
export async function replayOpen(client: Client, workflowBundle: WorkflowBundleOption): Promise<ReplayReport> {
  const { dataConverter } = client.options;
  const open = client.workflow.list({ query: "ExecutionStatus = 'Running'" });
  const broken: string[] = [];
  let runs = 0;
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle, dataConverter },
    open.intoHistories(),
  )) {
    runs += 1;
    if (error !== undefined) broken.push(`${workflowId}: ${error.message}`);
  }
  return { runs, broken };
}
