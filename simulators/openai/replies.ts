import { type Answer, NO_USAGE, replyId } from '../answer.ts';
import { estimateTokens } from '../reply-text.ts';
import { unitVector } from '../unit-vector.ts';
import { answerItem, usageField } from './answer.ts';
import { type Item, itemError } from './item.ts';
import { moderationResult } from './moderation.ts';
import { inputsOf, promptTokens, textsOf } from './prompt.ts';
import type { BatchUsage } from './records.ts';
import { responseBody } from './response-body.ts';

export interface ReplyContext {
  /** Unix milliseconds. */
  now: number;
  embeddingDimensions: number;
  /** Makes ids differ between replies to the same prompt. */
  idSeed: string;
}

export interface ItemReply {
  status: number;
  body: unknown;
  usage: BatchUsage;
}

/** The reply to one item in the shape of its endpoint (openai SDK types), an error reply included. */
export function replyTo(item: Item, context: ReplyContext): ItemReply {
  const error = itemError(item);
  if (error !== undefined) return { ...error, usage: NO_USAGE };
  switch (item.endpoint) {
    case '/v1/chat/completions':
      return withAnswer(item, (answer) => chatCompletion(item, answer, context));
    case '/v1/responses':
      return withAnswer(item, (answer) => responseBody(item, answer, context));
    case '/v1/completions':
      return withAnswer(item, (answer) => completion(item, answer, context));
    case '/v1/embeddings':
      return embeddings(item, context);
    case '/v1/moderations':
      return moderation(item, context);
  }
}

function withAnswer(item: Item, shape: (answer: Answer) => unknown): ItemReply {
  const answer = answerItem(item);
  return { status: 200, body: shape(answer), usage: answer.usage };
}

function chatCompletion(item: Item, { text, toolCall, stop, usage }: Answer, { now, idSeed }: ReplyContext) {
  const call = toolCall && {
    id: replyId('call_', idSeed),
    type: 'function',
    function: { name: toolCall.name, arguments: JSON.stringify(toolCall.arguments) },
  };
  const choices = Array.from({ length: Number(item.body['n'] ?? 1) }, (_, index) => ({
    index,
    message: {
      role: 'assistant',
      content: call === undefined ? text : null,
      ...(call !== undefined && { tool_calls: [call] }),
      refusal: null,
      annotations: [],
    },
    logprobs: null,
    finish_reason: stop,
  }));
  return {
    id: replyId('chatcmpl-', idSeed),
    object: 'chat.completion',
    created: Math.floor(now / 1000),
    model: item.body['model'],
    choices,
    ...usageField(item, completionUsage(usage)),
    service_tier: 'default',
    system_fingerprint: 'fp_simulated',
  };
}

function completion(item: Item, { text, stop, usage }: Answer, { now, idSeed }: ReplyContext) {
  return {
    id: replyId('cmpl-', idSeed),
    object: 'text_completion',
    created: Math.floor(now / 1000),
    model: item.body['model'],
    choices: inputsOf(item.body['prompt']).map((_, index) => ({ index, text, logprobs: null, finish_reason: stop })),
    ...usageField(item, completionUsage(usage)),
  };
}

function completionUsage({ input, cached, cacheWrite, output, reasoning }: BatchUsage) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function embeddings(item: Item, context: ReplyContext): ItemReply {
  const { body, directives, prompt } = item;
  const tokens =
    typeof directives.usage === 'object' ? directives.usage.input : promptTokens('/v1/embeddings', body, prompt);
  const dimensions = Number(body['dimensions'] ?? context.embeddingDimensions);
  const isBase64 = body['encoding_format'] === 'base64';
  const data = inputsOf(body['input']).map((input, index) => {
    const vector = unitVector(JSON.stringify(input), dimensions);
    const embedding = isBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const usage = usageField(item, { prompt_tokens: tokens, total_tokens: tokens });
  return {
    status: 200,
    body: { object: 'list', data, model: body['model'], ...usage },
    usage: { ...NO_USAGE, input: tokens },
  };
}

function moderation(item: Item, { idSeed }: ReplyContext): ItemReply {
  const { body, directives } = item;
  const results = inputsOf(body['input']).map((input) =>
    moderationResult(directives.safety === true, textsOf(input).join('\n')),
  );
  return {
    status: 200,
    body: { id: replyId('modr-', idSeed), model: body['model'] ?? 'omni-moderation-latest', results },
    // Moderation is free and reports no usage, but the batch still reads the input.
    usage: { ...NO_USAGE, input: estimateTokens(item.prompt) },
  };
}
