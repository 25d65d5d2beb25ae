import { z } from 'zod';
import { FAILURE_CLASSES, type FailureClass } from '../domain/failure.ts';
import {
  DEFAULT_RETRY_BACKOFF,
  MAX_BACKOFF_FACTOR,
  MAX_BACKOFF_SECONDS,
  MAX_RETRY_ATTEMPTS,
  type RetryPolicy as Policy,
  WAVE_CLASSES,
} from '../domain/retry-policy.ts';
import { uniqueList } from './text.ts';

const CLASSES = WAVE_CLASSES.join(', ');

const MaxAttempts = z
  .int(`must be a whole number from 1 to ${MAX_RETRY_ATTEMPTS}`)
  .min(1, 'must be at least 1, which is the first try alone')
  .max(MAX_RETRY_ATTEMPTS, `must be at most ${MAX_RETRY_ATTEMPTS}; retry what still fails then in a new job`)
  .meta({ description: 'Tries of one item, the first counted: 1, the default, is none again.', example: 3 });

const WaveClass = z.enum(FAILURE_CLASSES).refine((failureClass) => WAVE_CLASSES.includes(failureClass), {
  error: ({ input }) =>
    `must be one of ${CLASSES}; items that end as "${String(input)}" are retried by hand, in a new job`,
});

const Seconds = z
  .number()
  .min(0, 'must be 0 seconds or more')
  .max(MAX_BACKOFF_SECONDS, `must be at most ${MAX_BACKOFF_SECONDS} seconds, which is a day`);
const BACKOFF = {
  initial_seconds: Seconds.meta({
    description: `Before the second try. ${DEFAULT_RETRY_BACKOFF.initialSeconds} by default.`,
    example: 60,
  }),
  factor: z
    .number()
    .min(1, 'must be at least 1, so that no wait is shorter than the one before')
    .max(MAX_BACKOFF_FACTOR, `must be at most ${MAX_BACKOFF_FACTOR}`)
    .meta({
      description: `How many times as long each wait is as the one before. ${DEFAULT_RETRY_BACKOFF.factor} by default.`,
    }),
  max_seconds: Seconds.meta({
    description: `The longest wait. ${DEFAULT_RETRY_BACKOFF.maxSeconds} by default, or \`initial_seconds\` if that is more.`,
  }),
};

const BackoffInput = z
  .strictObject({
    initial_seconds: BACKOFF.initial_seconds.optional(),
    factor: BACKOFF.factor.optional(),
    max_seconds: BACKOFF.max_seconds.optional(),
  })
  .refine(
    ({ initial_seconds: initial, max_seconds: max }) =>
      max === undefined || (initial ?? DEFAULT_RETRY_BACKOFF.initialSeconds) <= max,
    {
      path: ['max_seconds'],
      error: `must not be less than initial_seconds (${DEFAULT_RETRY_BACKOFF.initialSeconds} where that is not set)`,
    },
  );

/** Which failed items a job tries again by itself. */
export const RetryPolicyInput = z
  .strictObject({
    max_attempts: MaxAttempts.optional(),
    classes: uniqueList(WaveClass, { max: WAVE_CLASSES.length })
      .optional()
      .meta({ description: `What is tried again: all of ${CLASSES} by default.`, example: ['provider_error'] }),
    backoff: BackoffInput.optional(),
  })
  .meta({
    description:
      'Items that failed are tried again by the job itself, all together in waves, while what is left of its hold covers them.',
  });

export const RetryPolicy = z
  .object({
    max_attempts: MaxAttempts,
    classes: z.array(z.enum(FAILURE_CLASSES)),
    backoff: z.object(BACKOFF),
  })
  .meta({ id: 'RetryPolicy' });

/** With the defaults of what was left out. */
export function readRetryPolicy(given: z.infer<typeof RetryPolicyInput>): Policy {
  const classes: readonly FailureClass[] = given.classes ?? WAVE_CLASSES;
  const { initial_seconds: initialSeconds = DEFAULT_RETRY_BACKOFF.initialSeconds } = given.backoff ?? {};
  return {
    maxAttempts: given.max_attempts ?? 1,
    classes,
    backoff: {
      initialSeconds,
      factor: given.backoff?.factor ?? DEFAULT_RETRY_BACKOFF.factor,
      maxSeconds: given.backoff?.max_seconds ?? Math.max(initialSeconds, DEFAULT_RETRY_BACKOFF.maxSeconds),
    },
  };
}
