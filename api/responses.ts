import type { z } from '@hono/zod-openapi';
import { ErrorEnvelope } from '../contracts/error.ts';
import { TaskErrorEnvelope } from '../contracts/task-error.ts';
import type { ErrorStatus } from './errors.ts';

const DESCRIPTIONS: { readonly [status in ErrorStatus]: string } = {
  400: 'Malformed: the message names the field.',
  401: 'No key, or not a valid one.',
  402: 'It would cost more than may be spent.',
  403: 'The key may not do this, or its account is suspended.',
  404: 'Unknown, or not the key’s to see.',
  405: 'The path takes other methods; `Allow` names them.',
  406: 'No offered form is accepted.',
  408: 'The call came too slowly.',
  409: 'The state of things does not allow it now.',
  410: 'The content was deleted.',
  413: 'Too large.',
  414: 'The path and query are too long.',
  415: 'Another content type or encoding is needed.',
  422: 'Understood, but impossible.',
  429: 'Too much at once; `Retry-After` tells when to come back.',
  431: 'The headers are too large.',
  500: 'A fault of the gateway.',
  503: 'Something the gateway needs is away, and nothing was done.',
};

/** What may be answered to any call, also before it is known which one it is. */
const OF_ALL = [400, 408, 414, 431, 500, 503] as const;

interface ErrorResponse<Envelope> {
  readonly description: string;
  readonly content: { readonly 'application/json': { readonly schema: Envelope } };
}

/** The error answers of a route: those named, and those that every authenticated route may give. */
export function errorResponses<Status extends ErrorStatus = never>(
  ...statuses: readonly Status[]
): { [status in Status | (typeof OF_ALL)[number] | 401 | 403 | 429]: ErrorResponse<typeof ErrorEnvelope> } {
  return describeErrors([...OF_ALL, 401, 403, 429, ...statuses], ErrorEnvelope);
}

/** The same of a route of the task surface, which has an envelope of its own. */
export function taskErrorResponses<Status extends ErrorStatus = never>(
  ...statuses: readonly Status[]
): { [status in Status | (typeof OF_ALL)[number] | 401 | 403 | 429]: ErrorResponse<typeof TaskErrorEnvelope> } {
  return describeErrors([...OF_ALL, 401, 403, 429, ...statuses], TaskErrorEnvelope);
}

/** Those of a route that asks for no key. */
export function keylessErrorResponses<Status extends ErrorStatus = never>(
  ...statuses: readonly Status[]
): { [status in Status | (typeof OF_ALL)[number]]: ErrorResponse<typeof ErrorEnvelope> } {
  return describeErrors([...OF_ALL, ...statuses], ErrorEnvelope);
}

function describeErrors<Status extends ErrorStatus, Envelope>(
  statuses: readonly Status[],
  schema: Envelope,
): { [status in Status]: ErrorResponse<Envelope> } {
  const entries = statuses.map((status) => [
    status,
    { description: DESCRIPTIONS[status], content: { 'application/json': { schema } } },
  ]);
  return Object.fromEntries(entries);
}

export function jsonResponse<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

export function jsonBody<Schema extends z.ZodType>(schema: Schema, { required }: { readonly required: boolean }) {
  return { required, content: { 'application/json': { schema } } };
}

/** A registered schema by its name, where nothing is to be validated by it. */
export function referTo(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}
