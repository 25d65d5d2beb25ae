import { type JsonReply, Refusal } from '../endpoint.ts';

/** google.rpc.Status, as it stands in an operation or an item; `code` is a gRPC number. */
export interface RpcStatus {
  code: number;
  message: string;
  details?: unknown[];
}

/** gRPC code names → number and HTTP status (google.rpc.Code). */
const CODES = {
  CANCELLED: { code: 1, http: 499 },
  UNKNOWN: { code: 2, http: 500 },
  INVALID_ARGUMENT: { code: 3, http: 400 },
  DEADLINE_EXCEEDED: { code: 4, http: 504 },
  NOT_FOUND: { code: 5, http: 404 },
  ALREADY_EXISTS: { code: 6, http: 409 },
  PERMISSION_DENIED: { code: 7, http: 403 },
  RESOURCE_EXHAUSTED: { code: 8, http: 429 },
  FAILED_PRECONDITION: { code: 9, http: 400 },
  INTERNAL: { code: 13, http: 500 },
  UNAVAILABLE: { code: 14, http: 503 },
  UNAUTHENTICATED: { code: 16, http: 401 },
} as const;
export type CodeName = keyof typeof CODES;

export function rpcStatus(name: CodeName, message: string): RpcStatus {
  return { code: CODES[name].code, message };
}

/** The number of a code given by its name or as digits; UNKNOWN for anything else. */
export function codeNumber(nameOrNumber: string): number {
  if (/^\d+$/.test(nameOrNumber)) return Number(nameOrNumber);
  return nameOrNumber in CODES ? CODES[nameOrNumber as CodeName].code : CODES.UNKNOWN.code;
}

/** `{error: {code, message, status, details?}}`, where `code` is the HTTP status (Gemini API docs, troubleshooting). */
export function errorReply(name: CodeName, message: string, details?: unknown[]): JsonReply {
  const { http } = CODES[name];
  return { status: http, json: { error: { code: http, message, status: name, ...(details && { details }) } } };
}

/** The same error as the reply to a request of its own. */
export function replyOfStatus({ code, message, details }: RpcStatus): JsonReply {
  const name = (Object.keys(CODES) as CodeName[]).find((each) => CODES[each].code === code) ?? 'UNKNOWN';
  return errorReply(name, message, details);
}

export function refusal(name: CodeName, message: string, details?: unknown[]): Refusal {
  return new Refusal(errorReply(name, message, details));
}

/** When to try again (google.rpc.RetryInfo). */
export function retryInfo(seconds: number) {
  return { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` };
}

const BY_HTTP: Readonly<Record<number, { name: CodeName; message: string; details?: unknown[] }>> = {
  400: { name: 'INVALID_ARGUMENT', message: 'Request contains an invalid argument.' },
  401: { name: 'UNAUTHENTICATED', message: 'Request had invalid authentication credentials.' },
  403: { name: 'PERMISSION_DENIED', message: 'The caller does not have permission.' },
  404: { name: 'NOT_FOUND', message: 'Requested entity was not found.' },
  409: { name: 'ALREADY_EXISTS', message: 'Requested entity already exists.' },
  429: {
    name: 'RESOURCE_EXHAUSTED',
    message: 'Resource has been exhausted (e.g. check quota).',
    details: [retryInfo(1)],
  },
  503: { name: 'UNAVAILABLE', message: 'The model is overloaded. Please try again later.' },
  504: { name: 'DEADLINE_EXCEEDED', message: 'Deadline expired before operation could complete.' },
};
const INTERNAL = { name: 'INTERNAL', message: 'An internal error has occurred. Please retry.' } as const;

/** The usual error of a status, for faults that name no body. */
export function errorOfStatus(status: number): JsonReply {
  const usual = BY_HTTP[status];
  if (usual !== undefined) return errorReply(usual.name, usual.message, usual.details);
  if (status === 500) return errorReply(INTERNAL.name, INTERNAL.message);
  const error = status > 500 ? INTERNAL : { name: 'UNKNOWN', message: `The request was answered with ${status}.` };
  return { status, json: { error: { code: status, message: error.message, status: error.name } } };
}

/** Errors a prompt may ask for with `[[sim:error=name]]`: the error of one item. */
const BY_DIRECTIVE: Readonly<Record<string, RpcStatus>> = {
  server_error: rpcStatus('INTERNAL', INTERNAL.message),
  rate_limit: rpcStatus('RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'),
  insufficient_quota: rpcStatus(
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details.',
  ),
  billing: rpcStatus('FAILED_PRECONDITION', 'Please enable billing on project simulated in Google AI Studio.'),
  overloaded: rpcStatus('UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  timeout: rpcStatus('DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'),
  context_length: rpcStatus(
    'INVALID_ARGUMENT',
    'The input token count exceeds the maximum number of tokens allowed (1048576).',
  ),
  unauthorized: rpcStatus('UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
  forbidden: rpcStatus('PERMISSION_DENIED', 'The caller does not have permission.'),
};

export const ERROR_DIRECTIVES: readonly string[] = Object.keys(BY_DIRECTIVE);

export function errorOfDirective(name: string): RpcStatus | undefined {
  return BY_DIRECTIVE[name];
}
