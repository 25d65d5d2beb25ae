import { GatewayError } from '../../domain/gateway-error.ts';

const RETRY_AFTER_SECONDS = 5;

/** Counts the calls that bring items while they are under way in this process. */
export class UploadSlots {
  readonly #max: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get total(): number {
    return this.#total;
  }

  /** Returns what gives the place back. Throws `concurrency_limit`, which names the limit. */
  take(tenantId: string, maxOfTenant: number): () => void {
    const own = this.#taken.get(tenantId) ?? 0;
    if (own >= maxOfTenant) {
      throw refusal(`This account has ${own} uploads under way here, and may have ${maxOfTenant} at once.`);
    }
    if (this.#total >= this.#max) {
      throw refusal(`This server has ${this.#total} uploads under way, and takes ${this.#max} at once.`);
    }
    this.#taken.set(tenantId, own + 1);
    this.#total += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#total -= 1;
      const left = (this.#taken.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#taken.delete(tenantId);
      else this.#taken.set(tenantId, left);
    };
  }
}

function refusal(message: string): GatewayError {
  return new GatewayError('concurrency_limit', `${message} Nothing was read; send it again once one has ended.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
