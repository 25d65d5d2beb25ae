import { type GenerationConfig, type ThinkingConfig, ThinkingLevel } from '@google/genai';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { refuseOthers } from './refuse-members.ts';

const LEVELS: ReadonlyMap<unknown, ThinkingLevel> = new Map<unknown, ThinkingLevel>([
  ['minimal', ThinkingLevel.MINIMAL],
  ['low', ThinkingLevel.LOW],
  ['medium', ThinkingLevel.MEDIUM],
  ['high', ThinkingLevel.HIGH],
  ['xhigh', ThinkingLevel.XHIGH],
]);

/** The members of a chat completion request that say how to answer (@google/genai, `GenerationConfig`). */
export function toGenerationConfig(request: JsonObject): GenerationConfig {
  const maxOutputTokens = readNumber(request, 'max_completion_tokens') ?? readNumber(request, 'max_tokens');
  const stopSequences = readStop(request['stop']);
  const thinkingConfig = readThinking(request['reasoning_effort']);
  const candidateCount = readNumber(request, 'n');
  return {
    ...numbered('temperature', readNumber(request, 'temperature')),
    ...numbered('topP', readNumber(request, 'top_p')),
    ...numbered('frequencyPenalty', readNumber(request, 'frequency_penalty')),
    ...numbered('presencePenalty', readNumber(request, 'presence_penalty')),
    ...numbered('seed', readNumber(request, 'seed')),
    ...numbered('maxOutputTokens', maxOutputTokens),
    ...numbered('candidateCount', candidateCount === 1 ? null : candidateCount),
    ...(stopSequences.length > 0 && { stopSequences }),
    ...(thinkingConfig !== null && { thinkingConfig }),
    ...readResponseFormat(request['response_format']),
  };
}

function numbered<Name extends keyof GenerationConfig>(name: Name, value: number | null): { [name in Name]?: number } {
  return value === null ? {} : ({ [name]: value } as { [name in Name]: number });
}

function readNumber(request: JsonObject, member: string): number | null {
  const value = request[member] ?? null;
  if (value === null || typeof value === 'number') return value;
  throw new UntranslatableRequest(`request.${member}`, 'must be a number');
}

function readStop(stop: unknown): string[] {
  const sequences = Array.isArray(stop) ? stop : [stop ?? []].flat();
  if (sequences.every((sequence) => typeof sequence === 'string')) return sequences;
  throw new UntranslatableRequest('request.stop', 'must be a string or a list of strings');
}

function readThinking(effort: unknown): ThinkingConfig | null {
  if (effort === undefined || effort === null) return null;
  if (effort === 'none') return { thinkingBudget: 0 };
  const thinkingLevel = LEVELS.get(effort);
  if (thinkingLevel !== undefined) return { thinkingLevel };
  throw new UntranslatableRequest('request.reasoning_effort', 'Gemini has no such thinking level');
}

/** The name, the description and the strictness of a schema are hints that Gemini does not take: it always keeps to it. */
function readResponseFormat(format: unknown): Pick<GenerationConfig, 'responseMimeType' | 'responseJsonSchema'> {
  if (format === undefined || format === null) return {};
  const { type, json_schema: named, ...others } = isJsonObject(format) ? format : {};
  refuseOthers(others, [], 'request.response_format');
  if (type === 'text') return {};
  if (type === 'json_object') return { responseMimeType: 'application/json' };
  if (type !== 'json_schema') {
    throw new UntranslatableRequest('request.response_format.type', 'Gemini has no such format');
  }
  const { schema } = isJsonObject(named) ? named : {};
  refuseOthers(
    isJsonObject(named) ? named : {},
    ['name', 'description', 'schema', 'strict'],
    'request.response_format.json_schema',
  );
  return {
    responseMimeType: 'application/json',
    ...(schema !== undefined && schema !== null && { responseJsonSchema: schema }),
  };
}
