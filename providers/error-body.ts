/** Longer than any error object: what goes on beyond is some page. */
const MAX_ERROR_BYTES = 1024 * 1024;
/** The highest status a `Response` can be made with. */
const MAX_STATUS = 599;

/** A refusal with its body cut after so many bytes, since it is read whole. A reply with status 200 is left as it is. */
export function cutErrorBody(response: Response, maxBytes: number = MAX_ERROR_BYTES): Response {
  if (response.ok || response.body === null || response.status > MAX_STATUS) return response;
  let left = maxBytes;
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= Math.min(left, chunk.length);
      if (left === 0) controller.terminate();
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(cut), { status, statusText, headers });
}
