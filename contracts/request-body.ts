import { z } from 'zod';

interface Fault {
  readonly path: (string | number)[];
  readonly message: string;
}

const MAX_DEPTH = 64;

/** A request, or a part of one, inside the body of a call. Whole numbers beyond 2^53 would be changed in silence by reading them, so they are refused. */
export const RequestBody = z.record(z.string(), z.unknown()).superRefine((body, context) => {
  const fault = findFault(body, []);
  if (fault !== null) context.addIssue({ code: 'custom', path: fault.path, message: fault.message });
});

function findFault(value: unknown, path: (string | number)[]): Fault | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : { path, message: 'must be well-formed text' };
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { path, message: 'must not be a whole number beyond 2^53' };
  }
  if (typeof value !== 'object' || value === null) return null;
  if (path.length >= MAX_DEPTH) return { path, message: `must not be nested deeper than ${MAX_DEPTH} levels` };
  return findFaultWithin(value, path);
}

function findFaultWithin(value: object, path: (string | number)[]): Fault | null {
  const entries: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, member] of entries) {
    if (typeof key === 'string' && !key.isWellFormed()) return { path, message: 'must have well-formed keys' };
    const fault = findFault(member, [...path, key]);
    if (fault !== null) return fault;
  }
  return null;
}
