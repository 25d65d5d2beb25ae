import {
  boolean,
  checkedApart,
  choices,
  type FieldRules,
  inspectFields,
  integer,
  list,
  nonEmptyText,
  number,
  object,
  positiveInteger,
  text,
  textList,
  wordUnless,
} from './field-rules.ts';
import type { Findings } from './findings.ts';
import { UNSEEN_INPUT_TOKENS } from './inspect-chat-messages.ts';
import { inspectGeminiContent } from './inspect-gemini-content.ts';
import { inspectTools } from './inspect-tools.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

/** Gemini's request body (Gemini API reference, `GenerateContentRequest`); it reads snake case as well. */
const RULES = withSnakeCase([
  ['contents', checkedApart()],
  ['systemInstruction', checkedApart()],
  ['tools', checkedApart()],
  ['model', nonEmptyText()],
  ['stream', boolean(FEATURE.STREAM)],
  ['toolConfig', toolConfig],
  ['safetySettings', list()],
  ['generationConfig', object()],
  ['cachedContent', text(FEATURE.PROVIDER_STATE)],
  ['labels', object()],
  ['serviceTier', wordUnless(['unspecified', 'standard'], FEATURE.SERVICE_TIER)],
]);

const JSON_TYPE = 'application/json';

const CONFIG_RULES = withSnakeCase([
  ['temperature', number(0, 2, FEATURE.SAMPLING)],
  ['topP', number(0, 1, FEATURE.SAMPLING)],
  ['topK', number(0, 1_000_000, FEATURE.SAMPLING)],
  ['candidateCount', choices()],
  ['maxOutputTokens', positiveInteger()],
  ['stopSequences', textList()],
  ['responseMimeType', mimeType],
  ['responseSchema', object(FEATURE.STRUCTURED_OUTPUT)],
  ['responseJsonSchema', checkedStructure],
  ['presencePenalty', number(-2, 2, FEATURE.WIDE_SAMPLING)],
  ['frequencyPenalty', number(-2, 2, FEATURE.WIDE_SAMPLING)],
  ['seed', integer(FEATURE.SEED)],
  ['responseLogprobs', boolean(FEATURE.LOGPROBS)],
  ['logprobs', number(0, 20, FEATURE.LOGPROBS)],
  ['thinkingConfig', thinkingConfig],
  ['responseModalities', modalities],
  ['speechConfig', object(FEATURE.MEDIA_OUTPUT)],
  ['imageConfig', object(FEATURE.MEDIA_OUTPUT)],
  ['mediaResolution', text()],
  ['routingConfig', object()],
  ['enableEnhancedCivicAnswers', boolean()],
]);

export function inspectGenerateContent(request: JsonObject, findings: Findings): void {
  inspectFields(request, RULES, 'request', findings);
  const config = findObject(request, 'generationConfig') ?? findObject(request, 'generation_config');
  if (config !== null) inspectConfig(config, findings);
  if ((request['cachedContent'] ?? request['cached_content'] ?? null) !== null) findings.tokens(UNSEEN_INPUT_TOKENS);
  inspectTools(request['tools'], 'request.tools', inspectTool, findings);
  const system = request['systemInstruction'] ?? request['system_instruction'] ?? null;
  if (system !== null) inspectGeminiContent(system, 'request.systemInstruction', findings);
  const contents = request['contents'];
  if (!Array.isArray(contents) || contents.length === 0) {
    findings.problem('request.contents', 'must be a non-empty list of contents');
    return;
  }
  for (const [index, content] of contents.entries()) {
    inspectGeminiContent(content, `request.contents[${index}]`, findings);
  }
}

function inspectConfig(config: JsonObject, findings: Findings): void {
  inspectFields(config, CONFIG_RULES, 'request.generationConfig', findings);
  const schema = config['responseSchema'] ?? config['response_schema'] ?? config['responseJsonSchema'] ?? null;
  const mediaType = config['responseMimeType'] ?? config['response_mime_type'];
  if (schema !== null) findings.json(schema);
  else if (mediaType === JSON_TYPE) findings.feature(FEATURE.JSON_MODE, 'request.generationConfig', 'responseMimeType');
}

/** Function declarations are the caller's; search, code execution and the like run at Google. */
function inspectTool(tool: JsonObject, path: string, findings: Findings): void {
  for (const name of Object.keys(tool)) {
    if (name === 'functionDeclarations' || name === 'function_declarations') continue;
    findings.feature(FEATURE.SERVER_TOOLS, path, name);
  }
}

function toolConfig(value: unknown): number | string {
  if (!isJsonObject(value)) return 'must be an object';
  const calling = findObject(value, 'functionCallingConfig') ?? findObject(value, 'function_calling_config');
  return calling?.['mode'] === 'ANY' ? FEATURE.FORCED_TOOL : 0;
}

function mimeType(value: unknown): number | string {
  if (typeof value !== 'string') return 'must be a string';
  return value === 'text/plain' || value === JSON_TYPE ? 0 : FEATURE.STRUCTURED_OUTPUT;
}

function checkedStructure(): number {
  return FEATURE.STRUCTURED_OUTPUT;
}

function thinkingConfig(value: unknown): number | string {
  if (!isJsonObject(value)) return 'must be an object';
  return (value['thinkingBudget'] ?? value['thinking_budget']) === 0 ? FEATURE.REASONING_OFF : FEATURE.REASONING;
}

function modalities(value: unknown): number | string {
  if (!Array.isArray(value)) return 'must be a list';
  return value.some((modality) => modality !== 'TEXT') ? FEATURE.MEDIA_OUTPUT : 0;
}

function withSnakeCase(rules: readonly (readonly [string, (value: unknown) => number | string])[]): FieldRules {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return new Map(rules.flatMap(([name, rule]) => [[name, rule] as const, [snake(name), rule] as const]));
}
