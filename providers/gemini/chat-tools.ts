import { FunctionCallingConfigMode, type FunctionDeclaration, type Tool, type ToolConfig } from '@google/genai';
import { isJsonObject } from '../../domain/json-object.ts';
import { UntranslatableRequest } from '../untranslatable-request.ts';
import { refuseOthers } from './refuse-members.ts';

const MODES: ReadonlyMap<unknown, FunctionCallingConfigMode> = new Map<unknown, FunctionCallingConfigMode>([
  ['auto', FunctionCallingConfigMode.AUTO],
  ['none', FunctionCallingConfigMode.NONE],
  ['required', FunctionCallingConfigMode.ANY],
]);

/** The functions of a chat completion request as one tool (@google/genai, `Tool`); null where there are none. */
export function toTools(tools: unknown): Tool[] | null {
  if (!Array.isArray(tools) || tools.length === 0) return null;
  return [{ functionDeclarations: tools.map((tool, index) => toDeclaration(tool, `request.tools[${index}]`)) }];
}

/** `auto` and `none` say nothing where there is no function. */
export function toToolConfig(choice: unknown, { hasTools }: { hasTools: boolean }): ToolConfig | null {
  if (choice === undefined || choice === null) return null;
  const mode = MODES.get(choice);
  if (mode !== undefined) {
    return hasTools || mode === FunctionCallingConfigMode.ANY ? { functionCallingConfig: { mode } } : null;
  }
  const called = isJsonObject(choice) && choice['type'] === 'function' ? choice['function'] : null;
  const name = isJsonObject(called) ? called['name'] : null;
  if (typeof name !== 'string') throw new UntranslatableRequest('request.tool_choice', 'Gemini has no such choice');
  return { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: [name] } };
}

function toDeclaration(tool: unknown, path: string): FunctionDeclaration {
  const declared = isJsonObject(tool) && tool['type'] === 'function' ? tool['function'] : null;
  if (!isJsonObject(tool) || !isJsonObject(declared)) {
    throw new UntranslatableRequest(`${path}.type`, 'Gemini takes functions only');
  }
  refuseOthers(tool, ['type', 'function'], path);
  refuseOthers(declared, ['name', 'description', 'parameters', 'strict'], `${path}.function`);
  const { name, description, parameters, strict } = declared;
  if (typeof name !== 'string') throw new UntranslatableRequest(`${path}.function.name`, 'must be a string');
  if (strict === true) {
    throw new UntranslatableRequest(`${path}.function.strict`, 'Gemini cannot be held to a schema of a function');
  }
  return {
    name,
    ...(typeof description === 'string' && { description }),
    ...(isJsonObject(parameters) && { parametersJsonSchema: parameters }),
  };
}
