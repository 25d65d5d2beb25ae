import { writeInputLine } from '../input-line.ts';
import type { EncodableItem } from '../provider.ts';
import { rejectedError } from '../reply-error.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { translateChatRequest } from './chat-request.ts';
import type { AnthropicApiVersion } from './client.ts';

/**
 * One element of the create body's `requests` (@anthropic-ai/sdk, `BatchCreateParams.Request`). A `messages` request is
 * passed on as it is, a `chat.completions` request is translated. Throws UntranslatableRequest for one that cannot be,
 * ProviderError `rejected` for an endpoint that Anthropic does not have.
 */
export function encodeItem(item: EncodableItem, apiVersion: AnthropicApiVersion): string {
  return writeInputLine({ custom_id: item.providerItemId, params: toParams(item, apiVersion) });
}

/** What the endpoint is sent, in a batch and by itself. Throws as {@link encodeItem} does. */
export function toParams(item: Omit<EncodableItem, 'providerItemId'>, apiVersion: AnthropicApiVersion): object {
  const { endpoint, request, model, defaultMaxOutputTokens } = item;
  switch (endpoint) {
    case 'messages':
      if (request['stream'] === true) throw new UntranslatableRequest('request.stream', 'a batch does not stream');
      return { ...request, model };
    case 'chat.completions':
      return translateChatRequest(request, { model, defaultMaxOutputTokens, apiVersion });
    default:
      throw rejectedError(`Anthropic has no endpoint for ${endpoint}`);
  }
}
