import { PART_DATA } from './content-messages.ts';
import { type RpcStatus, rpcStatus } from './errors.ts';
import type { ModelTask } from './models.ts';
import { isObject, type JsonObject } from './proto-json.ts';

const FUNCTION_NAME = /^[a-zA-Z_][\w.:-]{0,127}$/;
const MIME_TYPES = ['text/plain', 'application/json', 'text/x.enum'];
const RANGES: readonly [field: string, least: number, most: number][] = [
  ['temperature', 0, 2],
  ['topP', 0, 1],
  ['candidateCount', 1, 8],
  ['maxOutputTokens', 1, Number.POSITIVE_INFINITY],
];

/** What is wrong with a request that fits its message, or undefined (Gemini API reference and error replies). */
export function brokenRule(task: ModelTask, request: JsonObject): RpcStatus | undefined {
  const problem = task === 'embed' ? embedProblem(request) : generateProblem(request);
  return problem === undefined ? undefined : rpcStatus('INVALID_ARGUMENT', problem);
}

function embedProblem(request: JsonObject): string | undefined {
  const { content, outputDimensionality } = request as { content?: unknown; outputDimensionality?: number };
  if (!isObject(content)) return '* EmbedContentRequest.content: content is not specified';
  if (outputDimensionality !== undefined && outputDimensionality < 1) {
    return '* EmbedContentRequest.output_dimensionality: must be positive';
  }
  return contentProblem(content, 'EmbedContentRequest.content');
}

function generateProblem(request: JsonObject): string | undefined {
  const { contents, systemInstruction } = request as { contents?: JsonObject[]; systemInstruction?: JsonObject };
  if (contents === undefined || contents.length === 0) {
    return '* GenerateContentRequest.contents: contents is not specified';
  }
  const problems = [
    ...contents.map((content, index) => contentProblem(content, `GenerateContentRequest.contents[${index}]`)),
    systemInstruction && contentProblem(systemInstruction, 'GenerateContentRequest.system_instruction'),
    contents.every(({ role }) => role === undefined || role === 'user' || role === 'model' || role === 'function')
      ? undefined
      : 'Please use a valid role: user, model.',
    configProblem(asObject(request['generationConfig'])),
    toolProblem(request),
  ];
  return problems.find((problem) => problem !== undefined);
}

function contentProblem({ parts }: JsonObject, path: string): string | undefined {
  if (!Array.isArray(parts) || parts.length === 0) return `* ${path}.parts: contents.parts must not be empty.`;
  const empty = parts.findIndex((part) => Object.keys(PART_DATA).filter((name) => name in part).length !== 1);
  if (empty === -1) return undefined;
  return `* ${path}.parts[${empty}].data: required oneof field 'data' must have one initialized field`;
}

function configProblem(config: JsonObject): string | undefined {
  for (const [field, least, most] of RANGES) {
    const value = config[field];
    if (typeof value === 'number' && (value < least || value > most)) {
      return `* GenerateContentRequest.generation_config.${field}: must be in the range [${least}, ${most}]`;
    }
  }
  const mimeType = config['responseMimeType'] ?? 'text/plain';
  if (!MIME_TYPES.includes(String(mimeType))) {
    return `* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are ${MIME_TYPES.join(', ')}.`;
  }
  const schemas = ['responseSchema', 'responseJsonSchema'].filter((name) => config[name] !== undefined);
  if (schemas.length === 2) return 'Only one of response_schema and response_json_schema may be set.';
  if (schemas.length === 1 && mimeType === 'text/plain') {
    return "Response schema with mime type: 'text/plain' is unsupported";
  }
  return undefined;
}

function toolProblem(request: JsonObject): string | undefined {
  const declared = declarationsOf(request);
  const badIndex = declared.findIndex(({ name }) => typeof name !== 'string' || !FUNCTION_NAME.test(name));
  if (badIndex !== -1) {
    return `* GenerateContentRequest.tools[0].function_declarations[${badIndex}].name: Invalid function name. Must start with a letter or an underscore.`;
  }
  const double = declared.find(
    (each) => each['parameters'] !== undefined && each['parametersJsonSchema'] !== undefined,
  );
  if (double !== undefined) return 'Only one of parameters and parameters_json_schema may be set.';
  const calling = asObject(asObject(request['toolConfig'])['functionCallingConfig']);
  const allowed = calling['allowedFunctionNames'];
  if (!Array.isArray(allowed) || allowed.length === 0) return undefined;
  if (calling['mode'] !== 'ANY' && calling['mode'] !== 'VALIDATED') {
    return 'Function calling config: allowed_function_names should only be set when the function calling mode is ANY.';
  }
  const stranger = allowed.find((name) => !declared.some((each) => each['name'] === name));
  return stranger === undefined ? undefined : `Function calling config: ${stranger} is not a declared function.`;
}

export function declarationsOf(request: JsonObject): JsonObject[] {
  const tools = Array.isArray(request['tools']) ? request['tools'] : [];
  return tools.flatMap((tool: JsonObject) => (tool['functionDeclarations'] as JsonObject[] | undefined) ?? []);
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
