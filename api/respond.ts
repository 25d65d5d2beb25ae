import type { TypedResponse } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { bindScope } from '../db/row-scope.ts';
import type { ApiContext } from './env.ts';
import type { KeptAnswer } from './operations/once.ts';

/** JSON text made elsewhere, passed on byte for byte. The route's schema describes it; nothing checks it again. */
export function jsonText<Status extends ContentfulStatusCode>(
  c: ApiContext,
  text: string,
  status: Status,
): Response & TypedResponse<never, Status, 'json'> {
  const response: Response = c.body(text, status, { 'Content-Type': 'application/json' });
  return response as Response & TypedResponse<never, Status, 'json'>;
}

/** An answer that may be the repetition of an earlier one, which it then says. */
export function keptAnswer<Status extends ContentfulStatusCode>(c: ApiContext, answer: KeptAnswer, status: Status) {
  markReplay(c, answer.replayed);
  return jsonText(c, answer.body, status);
}

export function markReplay(c: ApiContext, replayed: boolean): void {
  if (replayed) c.header('Idempotency-Replayed', 'true');
}

/** Sends bytes as they are asked for; a reader that leaves ends their making. Typed as JSON, as `streamText` is. */
export function streamBytes(
  c: ApiContext,
  bytes: AsyncIterable<Uint8Array>,
  headers: Record<string, string>,
): Response & TypedResponse<never, 200, 'json'> {
  const pieces = bytes[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await pieces.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: async () => {
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  const response: Response = c.body(body, 200, headers);
  return response as Response & TypedResponse<never, 200, 'json'>;
}

/**
 * Sends pieces as they are asked for: a slow reader slows their making, one that leaves ends it. They are made in
 * the scope of the call. Typed as JSON because the types know no streams.
 */
export function streamText(
  c: ApiContext,
  pieces: AsyncGenerator<string>,
  headers: Record<string, string>,
): Response & TypedResponse<never, 200, 'json'> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: bindScope(async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      }),
      cancel: bindScope(async () => {
        await pieces.return(undefined);
      }),
    },
    { highWaterMark: 0 },
  );
  const response: Response = c.body(body, 200, headers);
  return response as Response & TypedResponse<never, 200, 'json'>;
}
