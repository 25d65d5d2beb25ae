import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';

/** Refuses the members of `object` that have no place in Gemini's request, for nothing is dropped in silence. */
export function refuseOthers(object: JsonObject, known: readonly string[], path: string): void {
  for (const [name, value] of Object.entries(object)) {
    if (!known.includes(name) && !isEmpty(value)) {
      throw new UntranslatableRequest(`${path}.${name}`, 'Gemini has nothing that this could be sent as');
    }
  }
}

/** Null means absent, as the providers read it, and an empty list or map says nothing. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}
