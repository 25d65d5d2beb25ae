import { isObject, type JsonObject, readMessage } from './proto-json.ts';
import { InlinedRequest } from './request-messages.ts';

export type Source = 'file' | 'inline';

/** One request of a batch as it stands in the input, not yet looked into. */
export interface InputItem {
  request: unknown;
  /** The `key` of a file's line. */
  key: string | undefined;
  /** The `metadata` of an inline request, given back as it is. */
  metadata: JsonObject | undefined;
}

/** One line of an input, or undefined when it is no JSON object. Further fields of a file's line are not looked at. */
export function readInputLine(text: string, source: Source): InputItem | undefined {
  const line = parseObject(text);
  if (line === undefined) return undefined;
  if (source === 'inline') return readInlined(line, '');
  const { key, request } = line;
  return { request, key: typeof key === 'string' ? key : undefined, metadata: undefined };
}

/** One element of `inputConfig.requests.requests`; throws a ShapeError. */
export function readInlined(value: unknown, path: string): InputItem {
  const { request, metadata } = readMessage(value, InlinedRequest, path);
  return { request, key: undefined, metadata: isObject(metadata) ? metadata : undefined };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
