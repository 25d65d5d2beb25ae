import { type Answer, answerTo, chooseTool, type Tool } from '../answer.ts';
import type { Item } from './item.ts';
import { promptTokens } from './prompt.ts';
import type { JsonObject } from './proto-json.ts';
import { asObject, declarationsOf } from './request-rules.ts';

/** The model's answer to an item, out of Gemini's shape. */
export function answerItem({ request, prompt, directives }: Item): Answer {
  const config = asObject(request['generationConfig']);
  return answerTo({
    prompt,
    directives,
    inputTokens: promptTokens(prompt),
    maxOutputTokens: Number(config['maxOutputTokens'] ?? Number.POSITIVE_INFINITY),
    schema: schemaOf(config),
    tool: chooseTool(toolsOf(request), choiceOf(request), directives),
  });
}

function schemaOf(config: JsonObject): unknown {
  if (config['responseMimeType'] !== 'application/json') return undefined;
  if (config['responseJsonSchema'] !== undefined) return config['responseJsonSchema'];
  return config['responseSchema'] === undefined ? 'any' : jsonSchemaOf(config['responseSchema']);
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

/** The JSON schema of an OpenAPI one: type names in lower case and counts as numbers. */
function jsonSchemaOf(schema: unknown): unknown {
  const { type, properties, items, anyOf, minItems, ...rest } = asObject(schema);
  return {
    ...rest,
    ...(type !== undefined && { type: String(type).toLowerCase() }),
    ...(minItems !== undefined && { minItems: Number(minItems) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(asObject(properties)).map(([name, inner]) => [name, jsonSchemaOf(inner)]),
      ),
    }),
    ...(items !== undefined && { items: jsonSchemaOf(items) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map(jsonSchemaOf) }),
  };
}
