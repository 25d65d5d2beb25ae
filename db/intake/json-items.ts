import { GatewayError } from '../../domain/gateway-error.ts';
import { isJsonObject } from '../../domain/json-object.ts';
import { nameIn } from './item-line.ts';
import { decodeUtf8, type ItemTexts, sizeOf, type TextFault } from './lines.ts';

/** What stands around the items of a body: `{"items":[]}` and white space, with room for a member to refuse by name. */
const MAX_FRAME_BYTES = 64 * 1024;
const ITEMS_KEY = /[{,]\s*"items"\s*:\s*$/;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Cuts `{"items":[…]}` into the JSON texts of its items as it streams in, holding one item at a time; positions are
 * indexes plus 1. Checks the frame only: an item that is not JSON is the item parser's to refuse. Throws
 * `invalid_json` or `invalid_request` for a frame of another shape, `request_too_large` for an item over `maxItemBytes`.
 */
export async function* splitJsonItems(chunks: AsyncIterable<Buffer>, maxItemBytes: number): AsyncGenerator<ItemTexts> {
  const scanner = new ItemScanner(maxItemBytes);
  let firstPosition = 1;
  for await (const chunk of chunks) {
    const items = scanner.scan(chunk);
    if (items.length > 0) yield toTexts(items, firstPosition);
    firstPosition += items.length;
  }
  checkFrame(scanner.frame());
}

function toTexts(items: readonly Buffer[], firstPosition: number): ItemTexts {
  const faults: TextFault[] = [];
  const texts = items.map((bytes, index) => {
    const text = decodeUtf8(bytes);
    if (text === null) faults.push({ position: firstPosition + index, fault: 'invalid_utf8' });
    return text ?? '';
  });
  return { firstPosition, texts, faults };
}

/** Where in the body the scanner stands: around the items, among them, or after them. */
type Place = 'before' | 'within' | 'after';

class ItemScanner {
  readonly #maxItemBytes: number;
  #place: Place = 'before';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #frame = '';
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #index = 0;
  #items: Buffer[] = [];
  /** Where the text being gathered, frame or item, begins in the chunk being read. */
  #start = 0;

  constructor(maxItemBytes: number) {
    this.#maxItemBytes = maxItemBytes;
  }

  scan(chunk: Buffer): Buffer[] {
    this.#items = [];
    this.#start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (this.#isInString) at = this.#skipString(chunk, at);
      else this.#step(chunk, at);
    }
    this.#keep(chunk, chunk.length);
    return this.#items;
  }

  frame(): string {
    return this.#frame;
  }

  /** Moves to the quote that ends the string, or to the end of the chunk. Returns the last index it looked at. */
  #skipString(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#isInString = false;
        return at;
      }
    }
    return chunk.length;
  }

  #step(chunk: Buffer, at: number): void {
    const byte = chunk[at];
    if (byte === QUOTE) this.#isInString = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(chunk, at, byte);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#close(chunk, at);
    else if (byte === COMMA && this.#place === 'within' && this.#depth === 2) {
      this.#endItem(chunk, at);
      this.#start = at + 1;
    }
  }

  #open(chunk: Buffer, at: number, byte: number): void {
    this.#depth += 1;
    if (this.#place !== 'before' || byte !== OPEN_BRACKET || this.#depth !== 2) return;
    this.#keep(chunk, at);
    this.#start = at;
    if (!ITEMS_KEY.test(this.#frame)) return;
    this.#frame += '[';
    this.#start = at + 1;
    this.#place = 'within';
  }

  #close(chunk: Buffer, at: number): void {
    this.#depth -= 1;
    if (this.#place !== 'within' || this.#depth !== 1) return;
    this.#endItem(chunk, at);
    this.#place = 'after';
    this.#start = at;
  }

  #endItem(chunk: Buffer, end: number): void {
    this.#keep(chunk, end);
    const text = Buffer.concat(this.#pieces);
    if (!text.every(isWhiteSpace)) this.#items.push(text);
    else if (this.#index > 0 || chunk[end] !== CLOSE_BRACKET) {
      throw new GatewayError('invalid_json', `The body is not valid JSON: items[${this.#index}] is missing.`);
    }
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#index += 1;
  }

  #keep(chunk: Buffer, end: number): void {
    if (end <= this.#start) return;
    const piece = chunk.subarray(this.#start, end);
    if (this.#place === 'within') this.#keepPiece(piece);
    else this.#keepFrame(piece);
  }

  #keepPiece(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes <= this.#maxItemBytes) return;
    const field = `items[${this.#index}]`;
    const { head, bytes } = sizeOf(this.#pieces);
    const message = `Item ${this.#index} has ${bytes} bytes or more; the limit is ${this.#maxItemBytes}. Shorten it, or leave it out.`;
    const detail = { index: this.#index, ...nameIn(head), error: 'request_too_large', message } as const;
    throw new GatewayError('request_too_large', message, { field, details: [detail] });
  }

  #keepFrame(piece: Buffer): void {
    this.#frame += piece.toString('latin1');
    if (this.#frame.length > MAX_FRAME_BYTES) throw wrongFrame();
  }
}

/** White space of JSON (RFC 8259). */
function isWhiteSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** `text` is the body without its items, its bytes as Latin-1. */
function checkFrame(text: string): void {
  let frame: unknown;
  try {
    frame = JSON.parse(decodeUtf8(Buffer.from(text, 'latin1')) ?? '');
  } catch (error) {
    throw new GatewayError('invalid_json', 'The body is not valid JSON, or is not complete. Nothing was stored.', {
      cause: error,
    });
  }
  if (!isJsonObject(frame)) throw wrongFrame();
  const unknown = Object.keys(frame).find((name) => name !== 'items');
  if (unknown !== undefined) {
    throw new GatewayError(
      'invalid_request',
      `"${unknown.slice(0, 100)}" is not a member of this body; only items is.`,
      {
        field: unknown.slice(0, 100),
      },
    );
  }
  const items = frame['items'];
  if (!Array.isArray(items)) throw wrongFrame();
  if (items.length > 0) throw new GatewayError('invalid_request', 'The body has items twice.', { field: 'items' });
}

function wrongFrame(): GatewayError {
  return new GatewayError('invalid_request', 'The body must be an object with a list of items: {"items":[…]}.', {
    field: 'items',
  });
}
