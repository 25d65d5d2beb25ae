import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { Event } from '../workflows/read-history.ts';

/** The members of an activity's answer that say which way the workflow goes from there. */
const TURNS = ['verdict', 'kind', 'next', 'waiting', 'giveUp', 'end', 'state'] as const;

/**
 * What a run has been through, as short facts: `batchJob began`, `batchJob continued as new`, `batchJob ended as
 * expired`, `submitAttempt answered kind wait`, `closeShard was told lost`, `heard cancel`.
 */
export function whatHappened(events: readonly Event[]): string[] {
  const type = events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? 'nothing';
  const activities = new Map<string, string>();
  return [`${type} began`, ...events.flatMap((event) => factsOf(event, type, activities))];
}

function factsOf(event: Event, type: string, activities: Map<string, string>): string[] {
  const scheduled = event.activityTaskScheduledEventAttributes;
  if (scheduled) {
    const name = scheduled.activityType?.name ?? '';
    activities.set(String(event.eventId), name);
    const reason = membersOf(scheduled.input?.payloads)['reason'];
    return name === 'closeShard' ? [`closeShard was told ${reason}`] : [];
  }
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed) {
    const answer = membersOf(completed.result?.payloads);
    const name = activities.get(String(completed.scheduledEventId));
    return TURNS.flatMap((turn) => (answer[turn] ? [`${name} answered ${turn} ${answer[turn]}`] : []));
  }
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal) return [`heard ${signal.signalName}`];
  return endOf(event, type);
}

function endOf(event: Event, type: string): string[] {
  const ended = event.workflowExecutionCompletedEventAttributes;
  if (ended) {
    const state = membersOf(ended.result?.payloads)['state'];
    return [`${type} completed`, ...(state === undefined ? [] : [`${type} ended as ${state}`])];
  }
  if (event.workflowExecutionContinuedAsNewEventAttributes) return [`${type} continued as new`];
  if (event.workflowExecutionTerminatedEventAttributes) return [`${type} was terminated`];
  if (event.workflowExecutionCancelRequestedEventAttributes) return [`${type} was cancelled by Temporal`];
  return [];
}

function membersOf(payloads: readonly Payload[] | null | undefined): Record<string, unknown> {
  const value = payloads?.[0] ? defaultPayloadConverter.fromPayload<unknown>(payloads[0]) : null;
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
