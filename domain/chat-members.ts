import type { Findings } from './findings.ts';
import type { JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

/** Members of content parts that only OpenAI reads (openai SDK, `ChatCompletionContentPart`). */
const SPECIFIC: readonly string[] = ['prompt_cache_breakpoint'];

/** Members beyond those that every translation carries: what only OpenAI reads, and what nobody knows. Null is absent. */
export function inspectMembers(object: JsonObject, carried: readonly string[], path: string, findings: Findings): void {
  for (const member in object) {
    if (carried.includes(member) || object[member] === null || object[member] === undefined) continue;
    findings.feature(SPECIFIC.includes(member) ? FEATURE.PROVIDER_SPECIFIC : FEATURE.UNKNOWN_FIELD, path, member);
  }
}

/** Whether an object has none but the members named. Null is absent. */
export function hasOnly(object: JsonObject, members: readonly string[]): boolean {
  return Object.keys(object).every((name) => members.includes(name) || object[name] === null);
}
