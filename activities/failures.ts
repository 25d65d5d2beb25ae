import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { codeOf, isConnectionFailure } from '../db/errors.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import { ProviderError } from '../providers/provider-error.ts';

type Activities = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/**
 * The same activities with errors fit for a history: a closed word as type, and a message without anything a caller or a
 * provider wrote, as a parser's or a database's own may quote. An aborted call of a cancelled activity is its cancellation.
 */
export function translateFailures<Some extends { readonly [name in keyof Some]: (input: never) => Promise<unknown> }>(
  activities: Some,
): Some {
  const translated = Object.entries(activities as Activities).map(([name, activity]) => [
    name,
    async (input: never) => {
      try {
        return await activity(input);
      } catch (error) {
        throw toFailure(error);
      }
    },
  ]);
  return Object.fromEntries(translated) as Some;
}

function toFailure(error: unknown): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  const { cancellationSignal } = Context.current();
  if (cancellationSignal.aborted && isAbort(error)) return cancellationSignal.reason;
  const { type, message, retryAfterMs = null } = describe(error);
  const failure = ApplicationFailure.create({
    type,
    message,
    ...(retryAfterMs === null ? {} : { nextRetryDelay: retryAfterMs }),
  });
  failure.stack = [`${type}: ${message}`, ...framesOf(error)].join('\n');
  return failure;
}

interface Description {
  readonly type: string;
  readonly message: string;
  readonly retryAfterMs?: number | null;
}

function describe(error: unknown): Description {
  if (error instanceof ProviderError) {
    const status = error.status === null ? '' : ` (${error.status})`;
    return { type: error.code, message: `provider: ${error.code}${status}`, retryAfterMs: error.retryAfterMs };
  }
  if (error instanceof GatewayError) return { type: error.code, message: error.message };
  if (isConnectionFailure(error)) return { type: 'database_unreachable', message: 'the database cannot be reached' };
  const code = codeOf(error);
  if (code !== null) return { type: 'system_error', message: `error ${code}` };
  // Thrown by this code, in its own words; any other kind comes from a library.
  if (error instanceof Error && error.constructor === Error) return { type: 'unexpected', message: error.message };
  return { type: 'unexpected', message: error instanceof Error ? error.name : typeof error };
}

function isAbort(error: unknown): boolean {
  if (error instanceof ProviderError) return error.code === 'aborted';
  return error instanceof Error && error.name === 'AbortError';
}

/** Where it happened, without the first line, which repeats the message. */
function framesOf(error: unknown): string[] {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines.filter((line) => /^\s+at /.test(line));
}
