import { GatewayError } from '../../domain/gateway-error.ts';

/** Room for the bodies on their way through one process, memory and disk together. */
export class SpoolSpace {
  readonly maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  lease(): SpaceLease {
    let held = 0;
    return {
      take: (bytes) => {
        this.#refuseBeyond(held + bytes, bytes);
        held += bytes;
        this.#usedBytes += bytes;
      },
      release: () => {
        this.#usedBytes -= held;
        held = 0;
      },
    };
  }

  #refuseBeyond(ownBytes: number, moreBytes: number): void {
    if (ownBytes > this.maxBytes) {
      throw new GatewayError(
        'request_too_large',
        `The body needs more than the ${this.maxBytes} bytes this server keeps for uploads. Send it in parts.`,
      );
    }
    if (this.#usedBytes + moreBytes > this.maxBytes) {
      throw new GatewayError(
        'rate_limited',
        `Uploads under way fill the ${this.maxBytes} bytes this server keeps for them. Nothing was stored; try again later.`,
        { retryAfterSeconds: 30 },
      );
    }
  }
}

/** One body's share. */
export interface SpaceLease {
  /** Throws, taking nothing, `rate_limited` when others hold the room, `request_too_large` when it never could fit. */
  take(bytes: number): void;
  /** Gives all of it back. Safe to call twice. */
  release(): void;
}
