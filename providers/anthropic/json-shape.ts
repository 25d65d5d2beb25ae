import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';

/*
 * Reading a request whose shape admission has checked, once more and to the last member: what is not understood is
 * refused with its exact place, never dropped. A member of null is absent.
 */

export function refuse(field: string, message: string): never {
  throw new UntranslatableRequest(field, message);
}

export function needObject(value: unknown, field: string): JsonObject {
  return isJsonObject(value) ? value : refuse(field, 'must be an object');
}

export function needText(value: unknown, field: string): string {
  return typeof value === 'string' ? value : refuse(field, 'must be a string');
}

export function needBoolean(value: unknown, field: string): boolean {
  return typeof value === 'boolean' ? value : refuse(field, 'must be true or false');
}

/** A list with the place of each entry. */
export function needList(value: unknown, field: string): { value: unknown; field: string }[] {
  if (!Array.isArray(value)) return refuse(field, 'must be a list');
  return value.map((entry, index) => ({ value: entry, field: `${field}[${index}]` }));
}

/** Refuses every member not named; of those it names, the absent ones are left for the reader to judge. */
export function refuseOthers(object: JsonObject, known: readonly string[], field: string): void {
  for (const [name, value] of Object.entries(object)) {
    if (!known.includes(name) && !isAbsent(value)) refuse(`${field}.${name}`, 'cannot be carried to Anthropic');
  }
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
