import { isJsonObject, type JsonObject } from '../domain/json-object.ts';
import type { LineResult, ResultLine } from './provider.ts';
import { readSafeText } from './safe-text.ts';

/** Longer than any id we send, so a cut id is never taken for one. */
export const MAX_ID_LENGTH = 256;

/**
 * Opens a result line and finds whose it is; `decode` says what its object means. A line that is no object, or names
 * nobody, is `unreadable`. `lineStart` captures the id at the documented beginning of a line, from which one cut or
 * garbled further on can still be told; `findId` looks where else the id may stand.
 */
export function readResultLine(
  line: string,
  { idMember, lineStart, findId }: { idMember: string; lineStart: RegExp; findId?: (parsed: JsonObject) => unknown },
  decode: (parsed: JsonObject) => LineResult,
): ResultLine {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    const id = lineStart.exec(line)?.[1];
    return { kind: 'unreadable', reason: 'not_json', providerItemId: readSafeText(id, MAX_ID_LENGTH) };
  }
  if (!isJsonObject(parsed)) return { kind: 'unreadable', reason: 'not_an_object', providerItemId: null };
  const id = parsed[idMember] ?? findId?.(parsed);
  if (typeof id !== 'string' || id === '') {
    const isMissing = id === undefined || id === null || id === '';
    const reason = `${idMember}_${isMissing ? 'missing' : 'not_a_string'}`;
    return { kind: 'unreadable', reason, providerItemId: null };
  }
  return { kind: 'result', providerItemId: readSafeText(id, MAX_ID_LENGTH) ?? '', result: decode(parsed) };
}
