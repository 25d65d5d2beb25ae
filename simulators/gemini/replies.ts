import { type Answer, replyId } from '../answer.ts';
import type { Directives } from '../directives.ts';
import { unitVector } from '../unit-vector.ts';
import { answerItem } from './answer.ts';
import type { RpcStatus } from './errors.ts';
import { type Item, itemError } from './item.ts';
import { promptTokens } from './prompt.ts';
import { asObject } from './request-rules.ts';

export interface ReplyContext {
  embeddingDimensions: number;
  /** Makes ids differ between replies to the same prompt. */
  idSeed: string;
}

export type ItemReply = { response: object } | { error: RpcStatus };

/** The reply to one item: a response in the shape of its method (@google/genai SDK types), or an error. */
export function replyTo(item: Item, context: ReplyContext): ItemReply {
  const error = itemError(item);
  if (error !== undefined) return { error };
  return { response: item.task === 'embed' ? embedResponse(item, context) : generateResponse(item, context) };
}

function generateResponse(item: Item, { idSeed }: ReplyContext) {
  const config = asObject(item.request['generationConfig']);
  const answer = withinThinking(answerItem(item), Number(config['maxOutputTokens'] ?? Number.POSITIVE_INFINITY));
  const usage = usageField(item.directives, answer.usage);
  const tail = { ...usage, modelVersion: item.model, responseId: replyId('', idSeed) };
  if (isBlocked(item.directives)) return { promptFeedback: { blockReason: 'SAFETY' }, ...tail };
  const count = Number(config['candidateCount'] ?? 1);
  return { candidates: Array.from({ length: count }, (_, index) => candidate(answer, index, idSeed)), ...tail };
}

/** An answer that says nothing when thinking used up all the tokens it had. */
function withinThinking(answer: Answer, maxOutputTokens: number): Answer {
  const { usage, stop } = answer;
  if (usage.reasoning < maxOutputTokens || stop === 'content_filter') return answer;
  return { text: '', toolCall: undefined, stop: 'length', usage: { ...usage, output: usage.reasoning } };
}

/** A prompt that is blocked gets no candidate; one whose answer is given as well gets a candidate without content. */
function isBlocked({ safety, text, chars }: Directives): boolean {
  return safety === true && text === undefined && chars === undefined;
}

function candidate({ text, toolCall, stop }: Answer, index: number, idSeed: string) {
  if (stop === 'content_filter') return { finishReason: 'SAFETY', index };
  const call = toolCall && { id: replyId('', `${idSeed}/call`), name: toolCall.name, args: toolCall.arguments };
  const part = call === undefined ? { text } : { functionCall: call };
  const content = { ...(part.text === '' ? {} : { parts: [part] }), role: 'model' };
  return { content, finishReason: stop === 'length' ? 'MAX_TOKENS' : 'STOP', index };
}

/** `usageMetadata`: the prompt with what was cached, thinking apart from the candidates, no field that is zero. */
function usageField(directives: Directives, { input, cached, output, reasoning }: Answer['usage']) {
  if (directives.usage === 'none') return {};
  if (directives.usage === 'alien') return { usageMetadata: { units_read: 12, units_written: 34 } };
  const candidates = Math.max(output - reasoning, 0);
  const counts = {
    promptTokenCount: input,
    candidatesTokenCount: isBlocked(directives) ? 0 : candidates,
    totalTokenCount: input + (isBlocked(directives) ? 0 : candidates) + reasoning,
    cachedContentTokenCount: cached,
    thoughtsTokenCount: reasoning,
  };
  const details = input === 0 ? {} : { promptTokensDetails: [{ modality: 'TEXT', tokenCount: input }] };
  return { usageMetadata: { ...withoutZeros(counts), ...details } };
}

export function withoutZeros<T>(counts: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => Number(count) !== 0));
}

/** An embedding, its tokens in the field of its model: newer ones report `usageMetadata` (responses seen by users). */
function embedResponse({ request, prompt, directives, model }: Item, { embeddingDimensions }: ReplyContext) {
  const values = [
    ...unitVector(JSON.stringify(prompt), Number(request['outputDimensionality'] ?? embeddingDimensions)),
  ];
  const tokens = typeof directives.usage === 'object' ? directives.usage.input : promptTokens(prompt);
  const embedding = { embedding: { values } };
  if (directives.usage === 'none') return embedding;
  if (directives.usage === 'alien') return { ...embedding, usageMetadata: { units_read: 12 } };
  if (model.includes('embedding-001')) return { ...embedding, tokenCount: String(tokens) };
  return { ...embedding, usageMetadata: { promptTokenCount: tokens } };
}
