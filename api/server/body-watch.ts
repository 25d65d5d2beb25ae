import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../domain/gateway-error.ts';
import { refuseOnSocket } from './raw-answer.ts';

/** How fast a body has to come: so many bytes in each window. */
export interface BodyPace {
  readonly windowMs: number;
  readonly minBytes: number;
}

interface Watched {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  windowStart: number;
  bytesAtStart: number;
}

/** Looks this often in each window. */
const LOOKS = 10;

/**
 * Cuts requests whose body comes too slowly, with 408. A body may take hours as long as it moves; time in which the
 * gateway itself does not read on counts for nothing.
 */
export class BodyWatch {
  readonly #pace: BodyPace;
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | null = null;

  constructor(pace: BodyPace) {
    this.#pace = pace;
  }

  add(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (incoming.complete) return;
    const watched = { incoming, outgoing, windowStart: Date.now(), bytesAtStart: incoming.socket.bytesRead };
    this.#watched.add(watched);
    const forget = () => this.#forget(watched);
    incoming.once('end', forget);
    incoming.once('close', forget);
    this.#timer ??= setInterval(() => this.#look(), Math.max(1, this.#pace.windowMs / LOOKS)).unref();
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const now = Date.now();
    for (const watched of this.#watched) {
      const { incoming } = watched;
      if (incoming.complete) this.#forget(watched);
      else if (isHeldBack(incoming)) restart(watched, now);
      else if (now - watched.windowStart >= this.#pace.windowMs) this.#judge(watched, now);
    }
  }

  #judge(watched: Watched, now: number): void {
    const { incoming, outgoing } = watched;
    if (incoming.socket.bytesRead - watched.bytesAtStart >= this.#pace.minBytes) {
      restart(watched, now);
      return;
    }
    this.#forget(watched);
    if (outgoing.headersSent) incoming.socket.destroy();
    else refuseOnSocket(incoming.socket, this.#tooSlow(), incoming.url);
  }

  #tooSlow(): GatewayError {
    const { minBytes, windowMs } = this.#pace;
    return new GatewayError(
      'request_timeout',
      `The body came too slowly: at least ${minBytes} bytes in ${windowMs / 1_000} seconds are needed. Nothing was stored; send it again.`,
    );
  }
}

/** Whether what has come is not read on here, so that the client cannot send more. */
function isHeldBack(incoming: IncomingMessage): boolean {
  return incoming.socket.isPaused() || incoming.readableLength >= incoming.readableHighWaterMark;
}

function restart(watched: Watched, now: number): void {
  watched.windowStart = now;
  watched.bytesAtStart = watched.incoming.socket.bytesRead;
}
