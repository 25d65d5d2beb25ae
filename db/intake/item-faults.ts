import { type ErrorCode, type ErrorDetail, GatewayError, MAX_ERROR_DETAILS } from '../../domain/gateway-error.ts';
import type { ItemFault } from './item-line.ts';

/** Where an item stands in its call; `line` only where the body has lines. */
export interface ItemPlace {
  readonly index: number;
  readonly line?: number;
}

/** What is wrong with the items of a body: the first hundred faults in full, of the others the number. */
export class ItemFaults {
  readonly #details: ErrorDetail[] = [];
  readonly #codes = new Set<ErrorCode>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(place: ItemPlace, fault: ItemFault): void {
    this.#count += 1;
    this.#codes.add(fault.error);
    if (this.#details.length < MAX_ERROR_DETAILS) this.#details.push({ ...place, ...fault });
  }

  /** Its code is that of the faults when they share one, else `invalid_item`. */
  toError(): GatewayError {
    const [code, ...others] = this.#codes;
    const first = this.#details[0];
    const where = first?.line === undefined ? `item ${first?.index}` : `line ${first.line}`;
    const more = this.#count === 1 ? '' : `, and ${this.#count - 1} more`;
    const field = first?.field === undefined ? {} : { field: `items[*].${first.field}` };
    return new GatewayError(
      code === undefined || others.length > 0 ? 'invalid_item' : code,
      `Nothing was stored: ${where}: ${first?.message}${more}.`,
      { ...field, details: this.#details, detailsCount: this.#count },
    );
  }
}
