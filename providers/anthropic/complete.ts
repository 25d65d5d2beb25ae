import { type Anthropic, APIError } from '@anthropic-ai/sdk';
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
import type { AnthropicApiVersion } from './client.ts';
import { decodeMessage } from './decode.ts';
import { toParams } from './encode.ts';
import { toProviderError } from './errors.ts';
import { classifyItemFailure, readItemError } from './item-failure.ts';

const PATH = '/v1/messages';

/** Statuses that say more than the coarse error type which may stand beside them. */
const NOT_OF_THE_REQUEST: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 409, 425, 429]);

/**
 * One request to the endpoint itself, through the SDK as far as the reply's headers: its `create` parses, and refuses
 * requests whose limit of tokens it takes for too high without streaming.
 */
export async function complete(
  input: CompleteInput,
  settings: { client: Anthropic; apiVersion: AnthropicApiVersion; idleTimeoutMs: number },
): Promise<DirectAnswer> {
  const { endpoint, request, signal, timeoutMs = DIRECT_TIMEOUT_MS } = input;
  const { client, apiVersion, idleTimeoutMs } = settings;
  refuseStreaming(request);
  const params = toParams(input, apiVersion);
  let reply: Awaited<ReturnType<typeof readReplyObject>>;
  try {
    reply = await withDeadline({ signal, timeoutMs }, async (deadline) => {
      const options = { body: params, signal: deadline, timeout: timeoutMs };
      const response = await client.post(PATH, options).asResponse();
      return readReplyObject(response, { idleTimeoutMs, signal: deadline });
    });
  } catch (error) {
    return readRefusal(error);
  }
  const { json, body } = reply;
  if (body['error'] !== undefined) throw errorInPlace();
  return toDirectAnswer(decodeMessage(endpoint, { json, path: [] }, body));
}

/** A reply that is not Anthropic's error object is somebody else's, and says nothing of the request. */
function readRefusal(error: unknown): DirectAnswer {
  const refusal = toProviderError(error, new Date());
  if (!(error instanceof APIError) || typeof error.status !== 'number') throw refusal;
  const words = readItemError(error.error);
  if (words !== null && error.status < 500) {
    const failed = classifyItemFailure(words);
    const isOverruled = failed.code === 'invalid_request' && NOT_OF_THE_REQUEST.has(error.status);
    if (isAboutRequest(failed) && !isOverruled) {
      return { ...failed, statusCode: error.status, body: JSON.stringify(error.error) };
    }
  }
  throw toDirectError(refusal, [words?.type ?? null, words?.code ?? null]);
}
