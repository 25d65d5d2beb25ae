import { TASK_CODE_OF, type TaskErrorEnvelope } from '../../contracts/task-error.ts';
import type { GatewayError } from '../../domain/gateway-error.ts';

/** Whether a path is of the surface that has this envelope, known or not. */
export function isTaskPath(path: string): boolean {
  return path === '/v1/async' || path.startsWith('/v1/async/');
}

/** A refusal as the task surface says it. The envelope has no member for the field, so the message names it. */
export function presentTaskError({ code, message, field }: GatewayError): TaskErrorEnvelope {
  const isNamed = field === undefined || message.includes(field);
  return { error: { code: TASK_CODE_OF[code], message: isNamed ? message : `${field}: ${message}` } };
}
