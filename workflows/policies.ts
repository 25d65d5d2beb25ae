import type { ActivityOptions } from '@temporalio/workflow';
import { DATABASE_QUEUE, MAINTENANCE_QUEUE, SCHEDULES_QUEUE, WEBHOOKS_QUEUE } from './task-queues.ts';

/**
 * Short set-wise SQL. Retried for ever: Postgres being away is no reason to give a job up. What a worker took with it
 * when it stopped is given to another after this time, so it is not longer than the waits for locks need.
 */
export const DATABASE_POLICY: ActivityOptions = {
  taskQueue: DATABASE_QUEUE,
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
};

/** SQL over every item of a shard or job: minutes at a million items, so a dead worker is noticed by heartbeat. */
export const BULK_DATABASE_POLICY: ActivityOptions = {
  ...DATABASE_POLICY,
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
};

/**
 * Build, upload and create. A repeat is safe: the create itself is guarded by a compare-and-set row, so a second run
 * answers "unknown" instead of sending again.
 */
export const SUBMIT_POLICY: Omit<ActivityOptions, 'taskQueue'> = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '2 minutes' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
};

/** One small request, harmless to repeat. A provider's Retry-After arrives as the failure's next delay. */
export const POLL_POLICY: Omit<ActivityOptions, 'taskQueue'> = {
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: 'TRY_CANCEL',
};

/** Streams result files for as long as they take; every repeat settles only what is not settled yet. */
export const INGEST_POLICY: Omit<ActivityOptions, 'taskQueue'> = {
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
};

/** One best effort on the way out: a provider that is away, or that no worker serves, holds up nobody. */
export const ABANDON_POLICY: Omit<ActivityOptions, 'taskQueue'> = {
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 2 },
  cancellationType: 'TRY_CANCEL',
};

/** A few rows, or a manifest of any size. What is away is waited for; the run's own end is the workflow's to set. */
export const SCHEDULE_POLICY: ActivityOptions = {
  taskQueue: SCHEDULES_QUEUE,
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 3, maximumInterval: '10 minutes' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
};

/** Items that cannot be fetched for some ten minutes are none for this firing; the next one tries again. */
export const FETCH_POLICY: ActivityOptions = {
  ...SCHEDULE_POLICY,
  retry: { initialInterval: '5 seconds', backoffCoefficient: 3, maximumAttempts: 6 },
};

/**
 * One request that is cut off after some seconds, between two short transactions. What a receiver says is an answer and no
 * failure: only Postgres being away is tried again here.
 */
export const WEBHOOK_POLICY: ActivityOptions = {
  taskQueue: WEBHOOKS_QUEUE,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: 'TRY_CANCEL',
};

/**
 * One request that a provider may take five minutes to answer, between short transactions. What the provider says is an answer
 * and no failure; tried again here is only what kept an attempt from being written down: Postgres away, or a worker that died,
 * which is noticed by heartbeat. A lease of the same length in the task's row keeps two workers from it. Rows count attempts.
 */
export const DIRECT_POLICY: Omit<ActivityOptions, 'taskQueue'> = {
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  cancellationType: 'TRY_CANCEL',
};

/**
 * Files of an artifact store made into requests, in a step that is not too large. A store that is away is waited for; a repeat
 * makes the same step anew.
 */
export const FILES_POLICY: Omit<ActivityOptions, 'taskQueue'> = {
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
  cancellationType: 'TRY_CANCEL',
};

export const MAINTENANCE_POLICY: ActivityOptions = {
  taskQueue: MAINTENANCE_QUEUE,
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '2 minutes',
  retry: { maximumAttempts: 3 },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
};
