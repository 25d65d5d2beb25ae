import { sliceMember } from './json-member.ts';

/** Where in a text a provider's reply stands: a member of a result line, or the whole text where the path is empty. */
export interface JsonPlace {
  readonly json: string;
  readonly path: readonly string[];
}

/** The text of the reply, or of a member of it, byte for byte. Null where there is none. */
export function slicePlace({ json, path }: JsonPlace, ...member: readonly string[]): string | null {
  const whole = [...path, ...member];
  return whole.length === 0 ? json : sliceMember(json, whole);
}
