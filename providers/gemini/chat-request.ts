import type { Content, GenerationConfig, Tool, ToolConfig } from '@google/genai';
import type { JsonObject } from '../../domain/json-object.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { toConversation } from './chat-contents.ts';
import { toGenerationConfig } from './chat-settings.ts';
import { toToolConfig, toTools } from './chat-tools.ts';
import { isEmpty, refuseOthers } from './refuse-members.ts';

/** The body of a generateContent call (Gemini API reference), as far as a neutral request can fill it. */
export interface GenerateContentRequest {
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  generationConfig?: GenerationConfig;
}

/** Members that are carried. `model` is not: the batch names it. */
const CARRIED = [
  'messages',
  'model',
  'tools',
  'tool_choice',
  'response_format',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'n',
  'seed',
  'reasoning_effort',
];

/** Members of which some values ask for nothing that Gemini does not do anyway. */
const HARMLESS: { readonly [member: string]: (value: unknown) => boolean } = {
  stream: (value) => value === false,
  store: (value) => value === false,
  logprobs: (value) => value === false,
  parallel_tool_calls: (value) => value === true,
  service_tier: (value) => value === 'auto' || value === 'default',
  modalities: (value) => Array.isArray(value) && value.every((modality) => modality === 'text'),
};

/**
 * A chat completion request in OpenAI's shape (openai SDK, `ChatCompletionCreateParams`) as Gemini's. `model` is only asked
 * whether it wants its function calls signed. Throws UntranslatableRequest, with the field, for what Gemini cannot be asked.
 */
export function toGenerateContent(request: JsonObject, { model }: { model: string }): GenerateContentRequest {
  for (const [member, isHarmless] of Object.entries(HARMLESS)) {
    const value = request[member];
    if (isEmpty(value) || isHarmless(value)) continue;
    throw new UntranslatableRequest(`request.${member}`, 'Gemini cannot be asked for this value');
  }
  refuseOthers(request, [...CARRIED, ...Object.keys(HARMLESS)], 'request');
  const { contents, systemInstruction } = toConversation(request['messages'], { model });
  const tools = toTools(request['tools']);
  const toolConfig = toToolConfig(request['tool_choice'], { hasTools: tools !== null });
  const generationConfig = toGenerationConfig(request);
  return {
    contents,
    ...(systemInstruction !== null && { systemInstruction }),
    ...(tools !== null && { tools }),
    ...(toolConfig !== null && { toolConfig }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  };
}
