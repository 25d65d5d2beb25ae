import type { TypedResponse } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
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

/**
 * Sends pieces as they are asked for: a slow reader slows their making, one that leaves ends it. Typed as JSON because
 * the types know no streams.
 */
export function streamText(
  c: ApiContext,
  pieces: AsyncGenerator<string>,
  headers: Record<string, string>,
): Response & TypedResponse<never, 200, 'json'> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  const response: Response = c.body(body, 200, headers);
  return response as Response & TypedResponse<never, 200, 'json'>;
}
