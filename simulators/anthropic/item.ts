import type { FirstAttempts } from '../attempts.ts';
import { type Directives, parseDirectives } from '../directives.ts';
import { ERROR_DIRECTIVES, errorOfDirective, invalid, type StatusError } from './errors.ts';
import { paramsError } from './params-rules.ts';
import { type Params, readRequest } from './prompt.ts';
import type { ApiVersion } from './versions.ts';

/** One request to a model, from a batch or sent by itself. */
export interface Item {
  params: Params;
  prompt: string;
  /** What rows are taken from; see readAsked. */
  material: string;
  /** Those that hold for this attempt. */
  directives: Directives;
  version: ApiVersion;
  isBatch: boolean;
}

/** Reads an item of a batch or, by an id of its own, a single call; `claim` records that it was run. */
export async function readItem(
  params: Params,
  call: { attempt: string; version: ApiVersion; isBatch: boolean },
  attempts: FirstAttempts,
): Promise<{ item: Item; claim: () => void }> {
  const { prompt, material, onceKey } = await readRequest(params);
  const found = parseDirectives(prompt);
  const directives = attempts.directivesFor(onceKey, found, call.attempt);
  return {
    item: { params, prompt, material, directives, version: call.version, isBatch: call.isBatch },
    claim: () => attempts.claim(onceKey, found, call.attempt),
  };
}

/** Whether an item never ends by itself. */
export function hangs({ directives }: Item): boolean {
  return directives.expire === true;
}

/** The error an item is answered with, or undefined when it gets a message. */
export function itemError(item: Item): StatusError | undefined {
  const { directives } = item;
  if (directives.unknown !== undefined) {
    const known = `errors are ${ERROR_DIRECTIVES.join(', ')}`;
    return invalid(`The simulator does not know the directive ${directives.unknown.join(', ')}; ${known}.`);
  }
  if (directives.error !== undefined) {
    return errorOfDirective(directives.error) ?? invalid(`The simulator does not know the error ${directives.error}.`);
  }
  // No single request can fail a whole batch here, so an invalid line is an invalid request.
  if (directives.invalid || directives.invalidLine) return invalid('messages.0.content: Input is not valid');
  return paramsError(item.params, item);
}
