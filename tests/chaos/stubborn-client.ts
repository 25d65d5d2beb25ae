import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/** What a call came to in the end. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
}

export interface StubbornCall {
  readonly json?: unknown;
  /** One key for one effect, however often the call is sent. */
  readonly idempotencyKey?: string;
  readonly accept?: string;
  /** Sends it twice at once; the second reply has to tell of the same effect. */
  readonly doubled?: boolean;
}

const PAUSE_MS = 150;
const GIVE_UP_AFTER_MS = 90_000;
/** Of one sending: an api that was killed may have left the connection open. */
const REPLY_WITHIN_MS = 15_000;
/** 409 of a job that another request is changing. */
const BUSY = 'job_busy';

/** A client that sends a call again until it is answered: by anything but a failure of the server. */
export class StubbornClient {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async call(method: string, path: string, call: StubbornCall = {}): Promise<Reply> {
    const [first, second] = await Promise.all([
      this.#callOnce(method, path, call),
      call.doubled === true ? this.#callOnce(method, path, call) : null,
    ]);
    if (second !== null && isEffect(first, second) && effectOf(first) !== effectOf(second))
      throw new Error(`${method} ${path} had two effects: ${first.text} and ${second.text}`);
    return first;
  }

  async #callOnce(method: string, path: string, call: StubbornCall): Promise<Reply> {
    const deadline = performance.now() + GIVE_UP_AFTER_MS;
    for (;;) {
      const reply = await this.#send(method, path, call).catch((error: unknown) => String(error));
      if (typeof reply !== 'string' && !isWorthAnother(reply)) return reply;
      if (performance.now() > deadline)
        throw new Error(`${method} ${path} had no answer: ${typeof reply === 'string' ? reply : reply.text}`);
      await delay(PAUSE_MS);
    }
  }

  async #send(method: string, path: string, { json, idempotencyKey, accept }: StubbornCall): Promise<Reply> {
    const response = await fetch(new URL(path, this.#url), {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(accept !== undefined && { accept }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(REPLY_WITHIN_MS),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, text, json: isJson ? JSON.parse(text) : null };
  }
}

function isWorthAnother({ status, text }: Reply): boolean {
  return status >= 500 || status === 429 || (status === 409 && text.includes(BUSY));
}

function isEffect(...replies: readonly Reply[]): boolean {
  return replies.every(({ status }) => status < 300);
}

/** What a reply says was done; the rest of a job may change from one reply to the next. */
function effectOf({ json }: Reply): string {
  const { job_id: jobId, accepted, total } = Effect.parse(json);
  return JSON.stringify([jobId, accepted, total]);
}

const Effect = z.object({
  job_id: z.string().optional(),
  accepted: z.number().optional(),
  total: z.number().optional(),
});
