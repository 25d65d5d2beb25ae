import type { Tool, ToolChoice } from '@anthropic-ai/sdk/resources/messages';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { isAbsent, needBoolean, needList, needObject, needText, refuse, refuseOthers } from './json-shape.ts';

/**
 * The functions of a chat completion as Anthropic's tools, and which of them must be called. Parallel calls are Anthropic's
 * default as well; forbidding them is part of its choice. Without a function a choice of `auto` or `none` says nothing.
 */
export function translateTools(request: JsonObject): { tools?: Tool[]; tool_choice?: ToolChoice } {
  const { tools: given, tool_choice: choice, parallel_tool_calls: mayBeParallel } = request;
  const tools = isAbsent(given)
    ? []
    : needList(given, 'request.tools').map(({ value, field }) => translateTool(value, field));
  const toolChoice = isAbsent(choice) ? null : translateChoice(choice);
  if (tools.length === 0) {
    if (toolChoice?.type === 'any' || toolChoice?.type === 'tool') refuse('request.tool_choice', 'needs tools');
    return {};
  }
  if (mayBeParallel !== false) return { tools, ...(toolChoice !== null && { tool_choice: toolChoice }) };
  if (toolChoice?.type === 'none') return { tools, tool_choice: toolChoice };
  return { tools, tool_choice: { ...(toolChoice ?? { type: 'auto' }), disable_parallel_tool_use: true } };
}

function translateTool(value: unknown, field: string): Tool {
  const tool = needObject(value, field);
  if (tool['type'] !== 'function') refuse(`${field}.type`, 'must be function for Anthropic');
  refuseOthers(tool, ['type', 'function'], field);
  const own = needObject(tool['function'], `${field}.function`);
  refuseOthers(own, ['name', 'description', 'parameters', 'strict'], `${field}.function`);
  const { description, strict } = own;
  return {
    name: needText(own['name'], `${field}.function.name`),
    ...(!isAbsent(description) && { description: needText(description, `${field}.function.description`) }),
    input_schema: readParameters(own['parameters'], `${field}.function.parameters`),
    ...(!isAbsent(strict) && { strict: needBoolean(strict, `${field}.function.strict`) }),
  };
}

/** Anthropic wants the schema of an object; without parameters a function takes an empty one. */
function readParameters(value: unknown, field: string): Tool.InputSchema {
  const schema = isAbsent(value) ? {} : needObject(value, field);
  const type = schema['type'] ?? 'object';
  if (type !== 'object') return refuse(`${field}.type`, 'must be object for Anthropic');
  return { ...schema, type };
}

function translateChoice(choice: unknown): ToolChoice {
  if (choice === 'auto' || choice === 'none') return { type: choice };
  if (choice === 'required') return { type: 'any' };
  if (!isJsonObject(choice) || choice['type'] !== 'function') {
    return refuse('request.tool_choice', 'must be auto, none, required or a function for Anthropic');
  }
  refuseOthers(choice, ['type', 'function'], 'request.tool_choice');
  const chosen = needObject(choice['function'], 'request.tool_choice.function');
  refuseOthers(chosen, ['name'], 'request.tool_choice.function');
  return { type: 'tool', name: needText(chosen['name'], 'request.tool_choice.function.name') };
}
