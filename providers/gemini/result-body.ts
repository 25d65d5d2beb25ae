import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { Endpoint } from '../../domain/provider.ts';
import { mapFinishReason } from './finish-reason.ts';

/**
 * - `complete`: has an answer, or ended without one for a reason that is the answer.
 * - `blocked`: the prompt was refused, or a filter left nothing to show; with the reason it names.
 * - `malformed`: empty or incomplete.
 */
export type BodyVerdict = { kind: 'complete' } | { kind: 'blocked'; reason: string } | { kind: 'malformed' };

const COMPLETE: BodyVerdict = { kind: 'complete' };
const MALFORMED: BodyVerdict = { kind: 'malformed' };

/** What a `response` is (@google/genai, `GenerateContentResponse`; Gemini API reference, `EmbedContentResponse`). */
export function judgeResponse(endpoint: Endpoint, response: JsonObject): BodyVerdict {
  if (endpoint === 'embeddings') return findEmbedding(response) === null ? MALFORMED : COMPLETE;
  const candidates = readCandidates(response);
  if (candidates.some(isAnswer)) return COMPLETE;
  const filtered = candidates.find(({ finishReason }) => mapFinishReason(finishReason) === 'content_filter');
  if (filtered !== undefined) return { kind: 'blocked', reason: String(filtered['finishReason']) };
  const feedback = response['promptFeedback'];
  const reason = isJsonObject(feedback) ? feedback['blockReason'] : null;
  return typeof reason === 'string' && reason !== '' ? { kind: 'blocked', reason } : MALFORMED;
}

function readCandidates(response: JsonObject): JsonObject[] {
  const { candidates } = response;
  return Array.isArray(candidates) ? candidates.filter(isJsonObject) : [];
}

/** The parts of a candidate's content; none where it has no content. */
export function readParts(candidate: JsonObject): JsonObject[] {
  const { content } = candidate;
  const parts = isJsonObject(content) ? content['parts'] : null;
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

/** The first embedding with its numbers, null where there is none. */
function findEmbedding(response: JsonObject): JsonObject | null {
  const { embedding, embeddings } = response;
  const found = isJsonObject(embedding) ? embedding : Array.isArray(embeddings) ? embeddings[0] : null;
  return isJsonObject(found) && Array.isArray(found['values']) ? found : null;
}

function isAnswer(candidate: JsonObject): boolean {
  if (readParts(candidate).some(isShown)) return true;
  const finish = mapFinishReason(candidate['finishReason']);
  return finish !== null && finish !== 'content_filter';
}

/** Thinking alone is no answer, and neither is an empty text. */
function isShown({ thought, thoughtSignature: _, text, ...data }: JsonObject): boolean {
  return thought !== true && ((typeof text === 'string' && text !== '') || Object.keys(data).length > 0);
}
