import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { codeOf, isConnectionFailure, SQLSTATE } from '../db/errors.ts';
import { GatewayError } from '../domain/gateway-error.ts';

const WRITE_TRIES = 60;
const WRITE_AGAIN_MS = 1_000;

/**
 * An answer that was paid for is not thrown away because Postgres is away for a moment: writing it down is tried for a minute
 * more, or until the worker has to stop. `write` has to be harmless to repeat, whatever came of the time before.
 */
export async function untilWritten<Result>(write: () => Promise<Result>): Promise<Result> {
  const { cancellationSignal } = Context.current();
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      if (tries >= WRITE_TRIES || cancellationSignal.aborted || !maySucceedLater(error)) throw error;
      await delay(WRITE_AGAIN_MS);
    }
  }
}

function maySucceedLater(error: unknown): boolean {
  if (error instanceof GatewayError) return error.code === 'dependency_unavailable';
  if (codeOf(error) === SQLSTATE.lockNotAvailable || isConnectionFailure(error)) return true;
  return error instanceof Error && isConnectionFailure(error.cause);
}
