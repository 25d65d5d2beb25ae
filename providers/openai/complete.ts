import { APIError, type OpenAI } from 'openai';
import type { Endpoint } from '../../domain/provider.ts';
import { withDeadline } from '../deadline.ts';
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
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { decodeReply } from './decode.ts';
import { mapEndpoint, toBody } from './encode.ts';
import { toProviderError } from './errors.ts';
import { readItemError } from './item-failure.ts';
import { judgeBody } from './result-body.ts';

/**
 * One request to the endpoint itself, through the SDK as far as the reply's headers: its methods parse, and a completed
 * result is kept byte for byte.
 */
export async function complete(
  input: CompleteInput,
  { client, idleTimeoutMs, isOpenAi }: { client: OpenAI; idleTimeoutMs: number; isOpenAi: boolean },
): Promise<DirectAnswer> {
  const { endpoint, request, signal, timeoutMs = DIRECT_TIMEOUT_MS } = input;
  refuseStreaming(request);
  if (request['background'] === true) {
    throw new UntranslatableRequest('request.background', 'the reply has to come with the call');
  }
  const path = mapEndpoint(endpoint, '');
  let reply: Awaited<ReturnType<typeof readReplyObject>>;
  try {
    reply = await withDeadline({ signal, timeoutMs }, async (deadline) => {
      const options = { body: toBody(input, { isOpenAi }), signal: deadline, timeout: timeoutMs };
      const response = await client.post(path, options).asResponse();
      return readReplyObject(response, { idleTimeoutMs, signal: deadline });
    });
  } catch (error) {
    return readRefusal(endpoint, error);
  }
  const { json, body } = reply;
  if (isPresent(body['error']) && judgeBody(endpoint, body) === 'malformed') throw errorInPlace();
  return toDirectAnswer(decodeReply(endpoint, { statusCode: 200, body, place: { json, path: [] }, lineError: null }));
}

/** A reply that is not OpenAI's error object is somebody else's, and says nothing of the request. */
function readRefusal(endpoint: Endpoint, error: unknown): DirectAnswer {
  const refusal = toProviderError(error, new Date());
  if (!(error instanceof APIError) || typeof error.status !== 'number') throw refusal;
  const words = readItemError(error.error);
  if (words !== null && error.status < 500) {
    const body = { error: error.error };
    const place = { json: JSON.stringify(body), path: [] };
    const result = decodeReply(endpoint, { statusCode: error.status, body, place, lineError: null });
    if (isAboutRequest(result)) return result;
  }
  throw toDirectError(refusal, [words?.type ?? null, words?.code ?? null]);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
