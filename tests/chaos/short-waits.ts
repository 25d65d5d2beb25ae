import type { ActivityOptions, WorkflowInterceptorsFactory } from '@temporalio/workflow';

/**
 * Interceptors that are bundled with the workflow code of the chaos suite: what a dead worker had in hand is given to
 * another after seconds instead of minutes, and jobs look sooner for shards that were ended. Longer than the five
 * seconds between heartbeats.
 */
const LONGEST_HEARTBEAT_MS = 9_000;
/** Of work that does not beat. */
const LONGEST_ACTIVITY_MS = 6_000;
const LONGEST_RETRY_MS = 2_000;
const LOOK_AGAIN_MS = 8_000;

export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      execute: (input, next) => {
        const [first, ...rest] = input.args;
        const args = isInput(first) ? [{ lookAgainMs: LOOK_AGAIN_MS, ...first }, ...rest] : input.args;
        return next({ ...input, args });
      },
    },
  ],
  outbound: [{ scheduleActivity: (input, next) => next({ ...input, options: shorten(input.options) }) }],
});

function isInput(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'jobId' in value;
}

function shorten(options: ActivityOptions): ActivityOptions {
  const retry = { ...options.retry, maximumInterval: LONGEST_RETRY_MS, initialInterval: LONGEST_RETRY_MS / 4 };
  return options.heartbeatTimeout === undefined
    ? { ...options, retry, startToCloseTimeout: LONGEST_ACTIVITY_MS }
    : { ...options, retry, heartbeatTimeout: LONGEST_HEARTBEAT_MS };
}
