import type { z } from 'zod';
import { type ErrorDetail, GatewayError } from '../domain/gateway-error.ts';

/** A body, query, header or path that does not have the declared shape, naming every field at fault. */
export function refuseInvalid(target: string, error: z.ZodError): GatewayError {
  const details = error.issues.flatMap(toDetails);
  const [first] = details;
  const field = first?.field === undefined ? {} : { field: first.field };
  const where = target === 'json' ? 'body' : target;
  const message = first === undefined ? `The ${where} is not valid.` : `The ${where} is not valid: ${describe(first)}`;
  return new GatewayError('invalid_request', message, { ...field, details });
}

function describe({ field, message }: ErrorDetail): string {
  return field === undefined ? `${message}.` : `${field}: ${message}.`;
}

function toDetails(issue: z.core.$ZodIssue): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => toDetail([...issue.path, key], 'unknown field'));
  }
  if (issue.code === 'invalid_key')
    return issue.issues.map((inner) => toDetail(issue.path, `key: ${plain(inner.message)}`));
  return [toDetail(issue.path, plain(issue.message))];
}

function toDetail(path: readonly PropertyKey[], message: string): ErrorDetail {
  return { ...(path.length > 0 && { field: fieldName(path) }), error: 'invalid_request', message };
}

/** `execution.max_items_per_shard`, `items[3].custom_id`. */
function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`))
    .join('');
}

function plain(message: string): string {
  return message.replace(/\.$/, '');
}
