const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** A search over the native string: an embedding's numbers are passed over at once. */
const STRUCTURE = /["{}[\]]/g;

/**
 * The text of the member at `path`, byte for byte as the provider wrote it: parsing and writing again would change
 * numbers. Null where there is none. `json` must be an object that `JSON.parse` accepts; of equal keys the last one
 * counts, as there.
 */
export function sliceMember(json: string, path: readonly string[]): string | null {
  const found = { start: -1, end: -1 };
  scanObject(json, skipSpace(json, 0), path, 0, found);
  return found.start < 0 ? null : json.slice(found.start, found.end);
}

/** The texts of an array's elements, byte for byte. `json` must be an array that `JSON.parse` accepts. */
export function sliceElements(json: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(json, skipSpace(json, 0) + 1);
  while (at < json.length && json.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = endOfValue(json, at);
    elements.push(json.slice(at, end));
    at = skipSpace(json, end);
    if (json.charCodeAt(at) === COMMA) at = skipSpace(json, at + 1);
  }
  return elements;
}

/** Walks the object at `start` once and returns the index behind it. */
function scanObject(
  json: string,
  start: number,
  path: readonly string[],
  depth: number,
  found: { start: number; end: number },
): number {
  let at = skipSpace(json, start + 1);
  while (at < json.length && json.charCodeAt(at) !== CLOSE_BRACE) {
    const keyEnd = endOfString(json, at);
    const isOnPath = isKey(json, at, keyEnd, path[depth]);
    const valueStart = skipSpace(json, skipTo(json, keyEnd, COLON) + 1);
    let valueEnd: number;
    if (isOnPath) found.start = -1;
    if (isOnPath && depth < path.length - 1 && json.charCodeAt(valueStart) === OPEN_BRACE) {
      valueEnd = scanObject(json, valueStart, path, depth + 1, found);
    } else {
      valueEnd = endOfValue(json, valueStart);
      if (isOnPath && depth === path.length - 1) {
        found.start = valueStart;
        found.end = valueEnd;
      }
    }
    at = skipSpace(json, valueEnd);
    if (json.charCodeAt(at) === COMMA) at = skipSpace(json, at + 1);
  }
  return at + 1;
}

function isKey(json: string, start: number, end: number, key: string | undefined): boolean {
  if (key === undefined) return false;
  if (end - start === key.length + 2) return json.startsWith(key, start + 1);
  const raw = json.slice(start, end);
  return raw.includes('\\') && JSON.parse(raw) === key;
}

function endOfValue(json: string, start: number): number {
  const first = json.charCodeAt(start);
  if (first === QUOTE) return endOfString(json, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfContainer(json, start);
  let at = start;
  while (at < json.length && !isEndOfScalar(json.charCodeAt(at))) at += 1;
  return at;
}

function endOfContainer(json: string, start: number): number {
  let open = 0;
  STRUCTURE.lastIndex = start;
  while (STRUCTURE.test(json)) {
    const at = STRUCTURE.lastIndex - 1;
    const code = json.charCodeAt(at);
    if (code === QUOTE) STRUCTURE.lastIndex = endOfString(json, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) open += 1;
    else {
      open -= 1;
      if (open === 0) return at + 1;
    }
  }
  return json.length;
}

/** Index behind the closing quote of the string that opens at `start`. */
function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return json.length;
}

function skipTo(json: string, from: number, code: number): number {
  let at = from;
  while (at < json.length && json.charCodeAt(at) !== code) at += 1;
  return at;
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (json.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

function isEndOfScalar(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 0x20;
}
