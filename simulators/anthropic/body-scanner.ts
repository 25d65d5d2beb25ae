/** What a {@link BodyScanner} comes upon, in the order of the body. */
export type Found =
  /** The list begins. */
  | { kind: 'list' }
  /** One element of the list. */
  | { kind: 'element'; bytes: Buffer }
  /** Any other member, or one of the list's name that is no list. */
  | { kind: 'member'; name: string; bytes: Buffer };

/**
 * Splits a JSON object that arrives in chunks into the elements of one list and its other members, holding no more
 * than the value under way. It only finds where values end: whether their bytes are JSON is for the reader to see.
 */
export interface BodyScanner {
  /** What became whole with this chunk. Throws a SyntaxError when the body cannot be a JSON object. */
  push(chunk: Buffer): Found[];
  /** Throws a SyntaxError when the object is not whole. */
  end(): void;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Where in the object the next byte stands, outside any value; a value begins where nothing else fits. */
type Place = 'start' | 'first key' | 'key' | 'colon' | 'value' | 'first element' | 'element' | 'after element' | After;
type After = 'after member' | 'done';

const PUNCTUATION: Readonly<Record<Place, Readonly<Record<number, Place>>>> = {
  start: { [OPEN_OBJECT]: 'first key' },
  'first key': { [CLOSE_OBJECT]: 'done' },
  key: {},
  colon: { [COLON]: 'value' },
  value: {},
  'first element': { [CLOSE_LIST]: 'after member' },
  element: {},
  'after element': { [COMMA]: 'element', [CLOSE_LIST]: 'after member' },
  'after member': { [COMMA]: 'key', [CLOSE_OBJECT]: 'done' },
  done: {},
};
const NO_VALUE_AT: ReadonlySet<Place> = new Set(['start', 'colon', 'after element', 'after member', 'done']);

export function createBodyScanner(listName: string): BodyScanner {
  let place: Place = 'start';
  let name = '';
  let value: ValueEnd | undefined;
  let held: Buffer[] = [];

  const finish = (bytes: Buffer): Found | undefined => {
    if (place === 'first key' || place === 'key') {
      name = readKey(bytes);
      place = 'colon';
      return undefined;
    }
    const isMember = place === 'value';
    place = isMember ? 'after member' : 'after element';
    return isMember ? { kind: 'member', name, bytes } : { kind: 'element', bytes };
  };
  /** Handles a byte between values; a value begins at it when this returns true. */
  const beginsValue = (byte: number | undefined, found: Found[]): boolean => {
    if (byte === undefined || isSpace(byte)) return false;
    const isList = place === 'value' && name === listName && byte === OPEN_LIST;
    if (isList) found.push({ kind: 'list' });
    const next = isList ? 'first element' : PUNCTUATION[place][byte];
    if (next === undefined && NO_VALUE_AT.has(place)) throw new SyntaxError(`unexpected byte at ${place}`);
    if (next !== undefined) place = next;
    return next === undefined;
  };

  return {
    push(chunk) {
      const found: Found[] = [];
      let at = 0;
      while (at < chunk.length) {
        if (value === undefined && !beginsValue(chunk[at], found)) {
          at += 1;
          continue;
        }
        value ??= { depth: 0, isText: false, isEscaped: false };
        const end = endOfValue(value, chunk, at);
        held.push(chunk.subarray(at, end ?? chunk.length));
        if (end === undefined) break;
        const whole = finish(Buffer.concat(held));
        if (whole !== undefined) found.push(whole);
        [value, held, at] = [undefined, [], end];
      }
      return found;
    },
    end() {
      if (place !== 'done') throw new SyntaxError(`the body ends at ${value === undefined ? place : 'a value'}`);
    },
  };
}

/** How far into a value the bytes so far have led. */
interface ValueEnd {
  depth: number;
  isText: boolean;
  isEscaped: boolean;
}

/** The place after the value's last byte, or undefined when it goes on beyond the chunk; keeps `value` up to date. */
function endOfValue(value: ValueEnd, chunk: Buffer, from: number): number | undefined {
  let at = from;
  while (at < chunk.length) {
    if (value.isText) {
      at = skipText(value, chunk, at);
      if (!value.isText && value.depth === 0) return at;
      continue;
    }
    const byte = chunk[at];
    const change = depthChange(byte);
    // Around a number or a word a bracket belongs to the object or list that holds it.
    if (value.depth === 0 && (change < 0 || byte === COMMA || isSpace(byte))) return at;
    value.depth += change;
    if (change < 0 && value.depth === 0) return at + 1;
    value.isText = byte === QUOTE;
    at += 1;
  }
  return undefined;
}

/** The place after the text's closing quote, or the end of the chunk when that is still to come. */
function skipText(value: ValueEnd, chunk: Buffer, from: number): number {
  for (let at = from; at < chunk.length; at += 1) {
    if (value.isEscaped) value.isEscaped = false;
    else if (chunk[at] === BACKSLASH) value.isEscaped = true;
    else if (chunk[at] === QUOTE) {
      value.isText = false;
      return at + 1;
    }
  }
  return chunk.length;
}

function depthChange(byte: number | undefined): number {
  if (byte === OPEN_OBJECT || byte === OPEN_LIST) return 1;
  return byte === CLOSE_OBJECT || byte === CLOSE_LIST ? -1 : 0;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function readKey(bytes: Buffer): string {
  const key: unknown = JSON.parse(bytes.toString());
  if (typeof key !== 'string') throw new SyntaxError('a key is no text');
  return key;
}
