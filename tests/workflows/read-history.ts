import type { Client, WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';

export type Event = NonNullable<History['events']>[number];

/** Of the run, oldest first. */
export async function readEvents(client: Client, workflowId: string, runId?: string): Promise<Event[]> {
  return (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
}

/** The events of a run and of every run it was continued as, one list for each. */
export async function readRuns(client: Client, workflowId: string, firstRunId: string): Promise<Event[][]> {
  const runs: Event[][] = [];
  for (let runId: string | null | undefined = firstRunId; runId; ) {
    const events = await readEvents(client, workflowId, runId);
    runs.push(events);
    runId = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return runs;
}

/** The summary an event shows in the Web UI, null where it has none. */
export function summaryOf(event: Event): string | null {
  const summary = event.userMetadata?.summary;
  return summary ? defaultPayloadConverter.fromPayload<string>(summary as Payload) : null;
}

/** The Markdown that the Web UI shows of a running workflow. */
export async function readCurrentDetails(handle: Pick<WorkflowHandle, 'query'>): Promise<string> {
  const { currentDetails } = await handle.query<{ currentDetails: string }, []>('__temporal_workflow_metadata');
  return currentDetails;
}

/** Bytes of every payload in the events: inputs, results, signals, details of failures. */
export function payloadBytes(events: readonly Event[]): number[] {
  const sizes: number[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof Uint8Array) return;
    for (const [name, child] of Object.entries(value)) {
      if (name === 'data' && child instanceof Uint8Array) sizes.push(child.byteLength);
      else walk(child);
    }
  };
  walk(events);
  return sizes;
}
