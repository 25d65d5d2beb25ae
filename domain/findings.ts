import type { ErrorCode } from './gateway-error.ts';
import { FEATURE } from './request-features.ts';

/** Something wrong with the shape of a request, at an exact place such as `request.messages[0].role`. */
export interface Problem {
  readonly field: string;
  readonly error: ErrorCode;
  readonly message: string;
}

/** A request with this many faults is not helped by hearing of more. */
const MAX_PROBLEMS = 20;

/** What an inspection gathers on its one walk through a request. */
export class Findings {
  features = 0;
  inputTokens = 0;
  readonly problems: Problem[] = [];

  feature(bit: number): void {
    this.features |= bit;
  }

  tokens(count: number): void {
    this.inputTokens += count;
  }

  problem(field: string, message: string): void {
    this.features |= FEATURE.MALFORMED;
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ field, error: 'invalid_item', message });
  }
}
