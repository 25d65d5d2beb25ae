import { randomBytes } from 'node:crypto';
import { type JsonReply, Refusal } from '../endpoint.ts';

/** What is wrong, as Anthropic puts it (@anthropic-ai/sdk types; Anthropic errors docs). */
export interface AnthropicError {
  type: string;
  message: string;
  details?: { error_code: string };
}

/** An error with the status it has outside a batch. */
export interface StatusError extends AnthropicError {
  status: number;
}

/** `{type: "error", error, request_id}`: the shape of error replies and of errored results. */
export function errorBody({ type, message, details }: AnthropicError, requestId: string) {
  return { type: 'error', error: { type, message, ...(details && { details }) }, request_id: requestId };
}

/** An error reply whose `request-id` header agrees with its body. */
export function errorReply(error: StatusError, headers: Record<string, string> = {}): JsonReply {
  const requestId = newRequestId();
  return { status: error.status, json: errorBody(error, requestId), headers: { 'request-id': requestId, ...headers } };
}

export function newRequestId(): string {
  return `req_${randomBytes(12).toString('hex')}`;
}

export function invalid(message: string): StatusError {
  return { status: 400, type: 'invalid_request_error', message };
}

export function refusal(error: StatusError, headers?: Record<string, string>): Refusal {
  return new Refusal(errorReply(error, headers));
}

export function invalidRequest(message: string): Refusal {
  return refusal(invalid(message));
}

export function notFound(message: string): Refusal {
  return refusal({ status: 404, type: 'not_found_error', message });
}

const BY_STATUS: Readonly<Record<number, AnthropicError>> = {
  400: { type: 'invalid_request_error', message: 'The request is not valid.' },
  401: { type: 'authentication_error', message: 'invalid x-api-key' },
  402: { type: 'billing_error', message: 'Your credit balance is too low to access the Anthropic API.' },
  403: { type: 'permission_error', message: 'Your credential may not use the specified resource.' },
  404: { type: 'not_found_error', message: 'Not found' },
  409: { type: 'conflict_error', message: 'The request conflicts with another one.' },
  413: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
  429: { type: 'rate_limit_error', message: "This request would exceed your organization's rate limit." },
  500: { type: 'api_error', message: 'Internal server error' },
  504: { type: 'timeout_error', message: 'The request timed out.' },
  529: { type: 'overloaded_error', message: 'Overloaded' },
};

/** The usual error of a status, for faults that name no body. */
export function errorOfStatus(status: number): JsonReply {
  return errorReply(usualError(status));
}

function usualError(status: number): StatusError {
  const other = {
    type: status >= 500 ? 'api_error' : 'invalid_request_error',
    message: `The request was answered with ${status}.`,
  };
  return { status, ...(BY_STATUS[status] ?? other) };
}

/** Errors a prompt may ask for with `[[sim:error=name]]`, by the names all simulators share. */
const BY_DIRECTIVE: Readonly<Record<string, StatusError>> = {
  server_error: usualError(500),
  rate_limit: usualError(429),
  insufficient_quota: usualError(402),
  billing: usualError(402),
  overloaded: usualError(529),
  timeout: usualError(504),
  context_length: invalid('prompt is too long: 200001 tokens > 200000 maximum'),
  unauthorized: usualError(401),
  forbidden: usualError(403),
};

export const ERROR_DIRECTIVES: readonly string[] = Object.keys(BY_DIRECTIVE);

export function errorOfDirective(name: string): StatusError | undefined {
  return BY_DIRECTIVE[name];
}
