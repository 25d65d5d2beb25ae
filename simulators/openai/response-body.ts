import { type Answer, replyId } from '../answer.ts';
import { usageField } from './answer.ts';
import type { Item } from './item.ts';

/** A Responses API reply with the fields the API always sends (openai SDK types). */
export function responseBody(
  item: Item,
  { text, toolCall, stop, usage }: Answer,
  context: { now: number; idSeed: string },
) {
  const { body } = item;
  const createdAt = Math.floor(context.now / 1000);
  const reason = {
    stop: undefined,
    tool_calls: undefined,
    length: 'max_output_tokens',
    content_filter: 'content_filter',
  }[stop];
  const status = reason === undefined ? 'completed' : 'incomplete';
  const message = {
    id: replyId('msg_', context.idSeed),
    type: 'message',
    status,
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  };
  const call = toolCall && {
    id: replyId('fc_', context.idSeed),
    type: 'function_call',
    status,
    call_id: replyId('call_', context.idSeed),
    name: toolCall.name,
    arguments: JSON.stringify(toolCall.arguments),
  };
  return {
    id: replyId('resp_', context.idSeed),
    object: 'response',
    created_at: createdAt,
    status,
    background: false,
    completed_at: reason === undefined ? createdAt : null,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    metadata: body['metadata'] ?? {},
    model: body['model'],
    output: stop === 'content_filter' ? [] : [call ?? message],
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: body['top_p'] ?? 1,
    truncation: 'disabled',
    ...usageField(item, {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    }),
  };
}
