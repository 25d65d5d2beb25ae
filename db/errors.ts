import { GatewayError } from '../domain/gateway-error.ts';

/** SQLSTATEs this code acts on (PostgreSQL documentation, appendix A). */
export const SQLSTATE = {
  uniqueViolation: '23505',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  lockNotAvailable: '55P03',
} as const;

/** Sockets, name look-ups, and what the server says while it starts, stops or is full. */
const AWAY_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  '53300',
  '57P01',
  '57P02',
  '57P03',
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2037',
]);
const CONNECTION_CLASS = /^08[0-9A-Z]{3}$/;
/** pg gives these no code; the texts are those of pg 8 and pg-pool 3. */
const AWAY_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
];

/** The SQLSTATE or system code an error carries, if any. */
export function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

/** Whether the transaction lost against another one and may simply be run again. */
export function isLostRace(error: unknown): boolean {
  const code = codeOf(error);
  return code === SQLSTATE.serializationFailure || code === SQLSTATE.deadlockDetected;
}

/** Whether an error of pg or of Prisma says that the database cannot be reached, rather than that a statement was wrong. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code !== null && (AWAY_CODES.has(code) || CONNECTION_CLASS.test(code))) return true;
  return code === null && AWAY_MESSAGES.some((message) => error.message.startsWith(message));
}

/** A connection failure as `dependency_unavailable`; any other error unchanged. */
export function asGatewayError(error: unknown): unknown {
  if (!isConnectionFailure(error)) return error;
  return new GatewayError('dependency_unavailable', 'The database cannot be reached. Nothing was done; try again.', {
    cause: error,
    retryAfterSeconds: 5,
  });
}
