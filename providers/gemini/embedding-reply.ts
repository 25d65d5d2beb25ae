import type { JsonObject } from '../../domain/json-object.ts';
import type { RawUsage } from '../../domain/usage.ts';
import { toCompletionUsage } from '../completion-usage.ts';
import { sliceElements, sliceMember } from '../json-member.ts';

/**
 * A response judged `complete` as OpenAI's list of embeddings (openai SDK, `CreateEmbeddingResponse`), the numbers as the
 * provider wrote them. Gemini does not name the model, nor in every form the tokens: such a member is empty or left out.
 */
export function toEmbeddingList(response: JsonObject, responseJson: string, usage: RawUsage | null): string {
  const counts = toCompletionUsage(usage);
  const model = typeof response['modelVersion'] === 'string' ? response['modelVersion'] : '';
  const rest = {
    model,
    ...(counts !== null && { usage: { prompt_tokens: counts.prompt_tokens, total_tokens: counts.prompt_tokens } }),
  };
  const data = `[{"object":"embedding","index":0,"embedding":${findValues(response, responseJson)}}]`;
  return `{"object":"list","data":${data},${JSON.stringify(rest).slice(1)}`;
}

function findValues(response: JsonObject, responseJson: string): string {
  const { embedding } = response;
  if (typeof embedding === 'object' && embedding !== null) {
    return sliceMember(responseJson, ['embedding', 'values']) ?? '[]';
  }
  const [first = '{}'] = sliceElements(sliceMember(responseJson, ['embeddings']) ?? '[]');
  return sliceMember(first, ['values']) ?? '[]';
}
