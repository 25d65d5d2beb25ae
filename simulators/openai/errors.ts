import { type JsonReply, Refusal } from '../endpoint.ts';

export interface OpenAiError {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

/** `{error: {message, type, param, code}}`, the shape of every error reply (openai SDK types). */
export function errorBody(error: Partial<OpenAiError> & { message: string }): { error: OpenAiError } {
  return { error: { type: 'invalid_request_error', param: null, code: null, ...error } };
}

export function invalidRequest(message: string, param: string | null = null, code: string | null = null): Refusal {
  return refusal(400, { message, param, code });
}

export function notFound(message: string, param: string | null = null, code: string | null = null): Refusal {
  return refusal(404, { message, param, code });
}

export function refusal(status: number, error: Partial<OpenAiError> & { message: string }): Refusal {
  return new Refusal({ status, json: errorBody(error) });
}

interface StatusError extends Partial<OpenAiError> {
  message: string;
}

const OVERLOADED: StatusError = {
  message: 'The engine is currently overloaded, please try again later.',
  type: 'server_error',
  code: 'server_is_overloaded',
};
const BY_STATUS: Readonly<Record<number, StatusError>> = {
  400: { message: 'The request is not valid.' },
  401: { message: 'Incorrect API key provided.', code: 'invalid_api_key' },
  403: { message: 'You are not allowed to do this.', code: 'permission_denied' },
  404: { message: 'Not found.' },
  409: { message: 'The request conflicts with another one.', code: 'conflict' },
  413: { message: 'The request is too large.', code: 'request_too_large' },
  429: { message: 'Rate limit reached for requests.', type: 'requests', code: 'rate_limit_exceeded' },
  503: OVERLOADED,
};

/** The usual error of a status, for faults that name no body. */
export function errorOfStatus(status: number): JsonReply {
  const usual = BY_STATUS[status];
  const other: StatusError =
    status >= 500
      ? { message: 'The server had an error while processing your request.', type: 'server_error' }
      : { message: `The request was answered with ${status}.` };
  return { status, json: errorBody(usual ?? other) };
}

/** Errors a prompt may ask for with `[[sim:error=name]]`: the status and error of one item (OpenAI error codes docs). */
const BY_DIRECTIVE: Readonly<Record<string, { status: number; error: StatusError }>> = {
  server_error: {
    status: 500,
    error: { message: 'The server had an error while processing your request.', type: 'server_error' },
  },
  rate_limit: {
    status: 429,
    error: { message: 'Rate limit reached for tokens.', type: 'tokens', code: 'rate_limit_exceeded' },
  },
  insufficient_quota: {
    status: 429,
    error: {
      message: 'You exceeded your current quota, please check your plan and billing details.',
      type: 'insufficient_quota',
      code: 'credit_balance_exhausted',
    },
  },
  billing: {
    status: 400,
    error: { message: 'Billing hard limit has been reached.', code: 'billing_hard_limit_reached' },
  },
  overloaded: { status: 503, error: OVERLOADED },
  timeout: { status: 504, error: { message: 'The request timed out.', type: 'server_error', code: 'timeout' } },
  context_length: {
    status: 400,
    error: {
      message: "The input exceeds this model's maximum context length.",
      param: 'messages',
      code: 'context_length_exceeded',
    },
  },
  unauthorized: { status: 401, error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } },
  forbidden: { status: 403, error: { message: 'You are not allowed to use this model.', code: 'permission_denied' } },
};

export const ERROR_DIRECTIVES: readonly string[] = Object.keys(BY_DIRECTIVE);

export function errorOfDirective(name: string): { status: number; error: StatusError } | undefined {
  return BY_DIRECTIVE[name];
}
