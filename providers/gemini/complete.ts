import { randomUUID } from 'node:crypto';
import {
  DIRECT_TIMEOUT_MS,
  errorInPlace,
  isAboutRequest,
  readReplyObject,
  refuseStreaming,
  toDirectAnswer,
  toDirectError,
} from '../direct-answer.ts';
import type { CompleteInput, DirectAnswer } from '../provider.ts';
import { decodeResponse } from './decode.ts';
import { directPath, toRequest } from './encode.ts';
import { readErrorBody, toStatusError } from './errors.ts';
import { type GeminiHttp, readRefusal } from './http.ts';
import { classifyItemFailure } from './item-failure.ts';

type Refusal = Awaited<ReturnType<typeof readRefusal>>;

/** One request to the model itself, by its REST path: the SDK parses, and a completed result is kept byte for byte. */
export async function complete(
  input: CompleteInput,
  { http, idleTimeoutMs }: { http: GeminiHttp; idleTimeoutMs: number },
): Promise<DirectAnswer> {
  const { endpoint, model, request, signal, timeoutMs = DIRECT_TIMEOUT_MS } = input;
  refuseStreaming(request);
  const call = { path: directPath(endpoint, model), body: toRequest(input), signal, timeoutMs };
  const reply = await http.post(call, async (response, deadline) =>
    response.ok ? readReplyObject(response, { idleTimeoutMs, signal: deadline }) : readRefusal(response),
  );
  if ('status' in reply) return toRefused(reply);
  const { json, body } = reply;
  if (body['error'] !== undefined) throw errorInPlace();
  const found = { response: body, place: { json, path: [] }, key: `chatcmpl-${randomUUID()}` };
  return toDirectAnswer(decodeResponse(endpoint, found));
}

/** A reply that is not Google's error object is somebody else's, and says nothing of the request. */
function toRefused(refusal: Refusal): DirectAnswer {
  const words = readErrorBody(refusal.body);
  if (words !== null && refusal.status < 500) {
    const result = classifyItemFailure(words);
    if (isAboutRequest(result)) return { ...result, statusCode: refusal.status };
  }
  throw toDirectError(toStatusError(refusal, new Date()), [words?.name ?? null]);
}
