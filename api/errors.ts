import { HTTPException } from 'hono/http-exception';
import type { ErrorEnvelope } from '../contracts/error.ts';
import type { TaskErrorEnvelope } from '../contracts/task-error.ts';
import { asGatewayError } from '../db/errors.ts';
import { type ErrorCode, GatewayError, STATUS_OF } from '../domain/gateway-error.ts';
import { refusalOf } from './presentation/refusal.ts';
import { isTaskPath, presentTaskError } from './presentation/task-error.ts';

export type ErrorStatus = (typeof STATUS_OF)[ErrorCode];

export interface ErrorAnswer {
  readonly status: ErrorStatus;
  readonly envelope: ErrorEnvelope | TaskErrorEnvelope;
  readonly headers: Record<string, string>;
}

/** Every error as the one refusal its caller is told. What nobody expected is `internal`, without its text. */
export function toGatewayError(error: unknown): GatewayError {
  const known = asGatewayError(error);
  if (known instanceof GatewayError) return known;
  if (known instanceof HTTPException) return fromHttpException(known);
  return new GatewayError(
    'internal',
    'Something went wrong inside the gateway. Try again; if it stays, tell the operator the request_id.',
    {
      cause: error,
    },
  );
}

/** `path` is that of the call, where it is known: each surface has its own envelope. */
export function answerError(
  error: GatewayError,
  { requestId, path }: { readonly requestId: string; readonly path: string | null },
): ErrorAnswer {
  const status = STATUS_OF[error.code];
  const headers: Record<string, string> = {};
  if (error.retryAfterSeconds !== undefined) headers['Retry-After'] = String(error.retryAfterSeconds);
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  const isTask = path !== null && isTaskPath(path);
  const envelope = isTask ? presentTaskError(error) : { ...refusalOf(error), request_id: requestId };
  return { status, envelope, headers };
}

/** For a path that is not there, and for one that shall look like it. */
export function noSuchPath(): GatewayError {
  return new GatewayError('not_found', 'There is no such path. See /docs.');
}

/** What Hono and its validators throw before a handler runs. */
function fromHttpException(error: HTTPException): GatewayError {
  if (error.status === 415) {
    return new GatewayError(
      'unsupported_media_type',
      'The Content-Type is not one this call takes. The reference at /docs names those it does.',
    );
  }
  if (error.status === 413) return new GatewayError('request_too_large', 'The body is larger than this call takes.');
  if (error.status === 400) return new GatewayError('invalid_json', 'The body is not valid JSON.');
  return new GatewayError('internal', 'Something went wrong inside the gateway.', { cause: error });
}
