import { isJsonObject, type JsonObject } from './json-object.ts';
import { keepsContent } from './storage-terms.ts';
import type { StoragePolicy } from './tenant-policy.ts';

/** A word from a list, such as `invalid_request_error`: too short and too plain to hold a sentence. */
const WORD = /^[\w.-]{1,64}$/;
/** Members that say which error it was, where and when. */
const FACTS = ['code', 'status', 'line', 'at'];

/** A provider's errors as far as a job's policy lets them be kept: an error message may quote what it is about. */
export function keptErrors(storage: StoragePolicy, errors: readonly unknown[]): readonly unknown[] {
  return keepsContent(storage) ? errors : errors.map((error) => (isJsonObject(error) ? factsOf(error) : null));
}

function factsOf(error: JsonObject): Record<string, unknown> {
  const facts = FACTS.flatMap((name) => (Object.hasOwn(error, name) ? [[name, error[name]]] : []));
  return Object.fromEntries(facts.filter(([, value]) => typeof value !== 'string' || WORD.test(value)));
}
