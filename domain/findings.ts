import type { ErrorCode } from './gateway-error.ts';
import { FEATURE } from './request-features.ts';
import { CLASS_COUNTER, type TokenCounter } from './token-counter.ts';

/** Something wrong with the shape of a request, at an exact place such as `request.messages[0].role`. */
export interface Problem {
  readonly field: string;
  readonly error: ErrorCode;
  readonly message: string;
}

/** A request with this many faults is not helped by hearing of more. */
const MAX_PROBLEMS = 20;
/** Places kept of one feature: enough to repair most requests at once. */
const MAX_PLACES = 5;

/** What an inspection gathers on its one walk through a request. */
export class Findings {
  features = 0;
  inputTokens = 0;
  readonly problems: Problem[] = [];
  /** The first places of each feature, by its bit. Null where they are not asked for: appending items never does. */
  readonly places: Map<number, string[]> | null;
  readonly #counter: TokenCounter;

  constructor(places: Map<number, string[]> | null = null, counter: TokenCounter = CLASS_COUNTER) {
    this.places = places;
    this.#counter = counter;
  }

  /** The place is `path.member`; it comes in two parts so that only those who ask for places pay for joining them. */
  feature(bits: number, path: string, member = ''): void {
    this.features |= bits;
    if (this.places !== null && bits !== 0) notePlace(this.places, bits, member === '' ? path : `${path}.${member}`);
  }

  /** Those that are not of text: of attachments, and what a provider adds. */
  tokens(count: number): void {
    this.inputTokens += count;
  }

  text(text: string): void {
    this.inputTokens += this.#counter.countText(text);
  }

  json(value: unknown): void {
    this.inputTokens += this.#counter.countJson(value);
  }

  problem(field: string, message: string): void {
    this.features |= FEATURE.MALFORMED;
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ field, error: 'invalid_item', message });
  }
}

function notePlace(places: Map<number, string[]>, bits: number, place: string): void {
  for (const bit of Object.values(FEATURE)) {
    if ((bits & bit) === 0) continue;
    const known = places.get(bit) ?? [];
    if (known.length < MAX_PLACES && !known.includes(place)) places.set(bit, [...known, place]);
  }
}
