import { type Answer, answerTo, chooseTool, type Tool } from '../answer.ts';
import type { Item } from './item.ts';
import { promptTokens } from './prompt.ts';
import type { JsonObject } from './proto-json.ts';
import { jsonSchemaOf, schemaOf } from './reply-schema.ts';
import { asObject, declarationsOf } from './request-rules.ts';

/** The model's answer to an item, out of Gemini's shape. */
export function answerItem({ request, prompt, material, directives }: Item): Answer {
  const config = asObject(request['generationConfig']);
  return answerTo({
    prompt,
    material,
    directives,
    inputTokens: promptTokens(prompt),
    maxOutputTokens: Number(config['maxOutputTokens'] ?? Number.POSITIVE_INFINITY),
    schema: schemaOf(request),
    tool: chooseTool(toolsOf(request), choiceOf(request), directives),
  });
}

function toolsOf(request: JsonObject): Tool[] {
  return declarationsOf(request).map(({ name, parameters, parametersJsonSchema }) => ({
    name: String(name),
    parameters: parametersJsonSchema ?? jsonSchemaOf(parameters ?? { type: 'OBJECT' }),
  }));
}

function choiceOf(request: JsonObject): { mustCall: boolean; name?: string | undefined } {
  const { mode, allowedFunctionNames } = asObject(asObject(request['toolConfig'])['functionCallingConfig']);
  if (mode !== 'ANY') return { mustCall: false };
  const name = Array.isArray(allowedFunctionNames) ? allowedFunctionNames[0] : undefined;
  return { mustCall: true, ...(typeof name === 'string' && { name }) };
}
