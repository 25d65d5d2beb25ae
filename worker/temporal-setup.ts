import type { Client, Connection } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { RETENTION_SCHEDULE_ID } from '../workflows/ids.ts';
import { searchAttributes } from '../workflows/search-attributes.ts';
import { WORKFLOW_QUEUE } from '../workflows/task-queues.ts';

/** Number of the keyword type in Temporal's IndexedValueType (temporal/api/enums/v1/common.proto). */
const KEYWORD = 2;

type AnyConnection = Pick<Connection | NativeConnection, 'operatorService'>;

/** The custom search attributes workflows set, by name. */
export const SEARCH_ATTRIBUTE_NAMES: readonly string[] = Object.values(searchAttributes).map(({ name }) => name);

/** Registers the search attributes that are missing. Harmless to repeat, and from several processes at once. */
export async function registerSearchAttributes(connection: AnyConnection, namespace: string): Promise<void> {
  const missing = await findMissingSearchAttributes(connection, namespace);
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
  });
}

/** A workflow task that sets an unregistered attribute fails for ever, so a worker looks before it starts. */
export async function findMissingSearchAttributes(connection: AnyConnection, namespace: string): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return SEARCH_ATTRIBUTE_NAMES.filter((name) => !(name in (customAttributes ?? {})));
}

const SCHEDULES = [
  {
    id: 'batchgate/reconcile',
    workflow: 'reconcile',
    every: '1 minute',
    note: 'Open jobs without a workflow, cancels unheard',
  },
  {
    id: 'batchgate/sweep',
    workflow: 'sweep',
    every: '5 minutes',
    note: 'Shards and creates that stand still, deadlines, money and room held by nobody',
  },
  {
    id: 'batchgate/sweep-providers',
    workflow: 'sweepProviders',
    every: '30 minutes',
    note: 'Provider batches that are one too many',
  },
  {
    id: 'batchgate/restore-schedules',
    workflow: 'restoreSchedules',
    every: '5 minutes',
    note: 'Recurring jobs whose schedule is missing',
  },
  {
    id: 'batchgate/sweep-webhooks',
    workflow: 'sweepWebhooks',
    every: '1 minute',
    note: 'Webhooks whose attempt is overdue',
  },
  {
    id: 'batchgate/sweep-tasks',
    workflow: 'sweepTasks',
    every: '1 minute',
    note: 'Tasks that nobody works on, and counts of open tasks',
  },
  {
    id: 'batchgate/sweep-documents',
    workflow: 'sweepDocuments',
    every: '1 minute',
    note: 'Runs over documents without a workflow, and documents that nobody is at',
  },
  {
    id: RETENTION_SCHEDULE_ID,
    workflow: 'retention',
    every: '1 hour',
    note: 'Partitions, overdue deletions, ledger check',
  },
] as const;

/** Creates the schedules that are missing; one that exists, perhaps paused by an operator, is left as it is. */
export async function createSchedules(client: Client): Promise<void> {
  for (const { id, workflow, every, note } of SCHEDULES) {
    try {
      await client.schedule.create({
        scheduleId: id,
        spec: { intervals: [{ every }] },
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10 minutes' },
        action: {
          type: 'startWorkflow',
          workflowType: workflow,
          taskQueue: WORKFLOW_QUEUE,
          args: [],
          staticSummary: note,
        },
        state: { note },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  }
}
