import type { EventType } from './event.ts';

/** Sent on request, to see whether a receiver hears; never an event of its own. */
export const TEST_EVENT_TYPE = 'webhook.test';

export const DELIVERY_STATES = ['pending', 'delivered', 'abandoned'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Why an attempt, or a whole delivery, came to nothing. The list is closed. */
export const DELIVERY_ERRORS = [
  'bad_status',
  'gone',
  'timed_out',
  'unreachable',
  'tls_failed',
  'refused_address',
  'refused_url',
  'endpoint_busy',
  'endpoint_disabled',
  'endpoint_deleted',
  'secret_unavailable',
  'content_deleted',
] as const;
export type DeliveryError = (typeof DELIVERY_ERRORS)[number];

/** What an event is about, which says how long its delivery is tried. */
export type EventSubject = 'batch_job' | 'schedule' | 'budget' | 'ledger' | 'task' | 'document_batch' | 'test';

const SUBJECT_OF: { readonly [prefix: string]: EventSubject } = {
  batch_job: 'batch_job',
  batch_schedule: 'schedule',
  budget: 'budget',
  ledger: 'ledger',
  task: 'task',
  document_batch: 'document_batch',
  webhook: 'test',
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** How long a delivery is tried where its endpoint does not say. */
const GIVE_UP_AFTER_MS: { readonly [subject in EventSubject]: number } = {
  batch_job: 24 * HOUR_MS,
  schedule: 24 * HOUR_MS,
  budget: 24 * HOUR_MS,
  ledger: 24 * HOUR_MS,
  document_batch: 24 * HOUR_MS,
  task: 30 * MINUTE_MS,
  test: 5 * MINUTE_MS,
};

export const MIN_GIVE_UP_SECONDS = 60;
export const MAX_GIVE_UP_SECONDS = 7 * 24 * 3_600;

/** Told only to endpoints that name them: what is first of all an operator's to look at. */
const BY_NAME_ONLY: readonly string[] = ['ledger.difference'] satisfies EventType[];

export function eventSubjectOf(type: string): EventSubject {
  return SUBJECT_OF[type.split('.')[0] ?? ''] ?? 'batch_job';
}

/** Whether an endpoint that takes these types, or null for all, is told of an event. */
export function takesEvent(eventTypes: readonly string[] | null, type: string): boolean {
  return eventTypes === null ? !BY_NAME_ONLY.includes(type) : eventTypes.includes(type);
}

/** Milliseconds for which the delivery of an event is tried. */
export function giveUpAfterMs(type: string, endpointSeconds: number | null): number {
  const subject = eventSubjectOf(type);
  if (endpointSeconds === null || subject === 'test') return GIVE_UP_AFTER_MS[subject];
  return endpointSeconds * 1_000;
}

const FIRST_DELAY_MS = 5_000;
const MAX_DELAY_MS = HOUR_MS;
/** No wait is longer than this part of the whole time, so that a short one holds several attempts. */
const PART_OF_WINDOW = 1 / 6;
const JITTER = 0.2;

export interface FailedAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  readonly giveUpAfterMs: number;
  /** Until the delivery is given up; 0 or less when that time has come. */
  readonly remainingMs: number;
  /** What the receiver asked for; null where it asked for nothing. */
  readonly retryAfterMs: number | null;
  /** From 0 up to 1, made outside. */
  readonly random01: number;
}

/**
 * Milliseconds until a delivery is tried again: 5 s, doubled each time up to an hour or a sixth of the whole time, ±20 %.
 * A receiver may ask for a longer wait, of an hour at most. The last attempt is made when the time is over; null after it.
 */
export function nextAttemptDelay(failed: FailedAttempt): number | null {
  const { attempt, remainingMs, retryAfterMs, random01 } = failed;
  if (remainingMs <= 0) return null;
  const longest = Math.min(MAX_DELAY_MS, failed.giveUpAfterMs * PART_OF_WINDOW);
  const grown = Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempt - 1, 20), longest);
  const jittered = grown * (1 + JITTER * (2 * random01 - 1));
  const asked = Math.min(retryAfterMs ?? 0, MAX_DELAY_MS);
  return Math.ceil(Math.min(Math.max(jittered, asked), remainingMs));
}

const FIRST_BUSY_DELAY_MS = 1_000;
const MAX_BUSY_DELAY_MS = 5 * MINUTE_MS;

/** Milliseconds until a delivery whose receiver has as many requests as it may asks again; null when its time is over. */
export function busyDelay({
  waits,
  remainingMs,
  random01,
}: {
  readonly waits: number;
  readonly remainingMs: number;
  readonly random01: number;
}): number | null {
  if (remainingMs <= 0) return null;
  const grown = Math.min(FIRST_BUSY_DELAY_MS * 2 ** Math.min(waits, 20), MAX_BUSY_DELAY_MS);
  return Math.ceil(Math.min(grown * (0.5 + random01), remainingMs));
}
