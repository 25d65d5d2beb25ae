import { type Answer, answerTo, chooseTool, type Tool } from '../answer.ts';
import type { Item } from './item.ts';
import { asBody, type Body, promptTokens, schemaOf } from './prompt.ts';

/** The model's answer to an item, out of the endpoint's shape. */
export function answerItem(item: Item): Answer {
  const { endpoint, body, prompt, material, directives } = item;
  const limit = body['max_completion_tokens'] ?? body['max_output_tokens'] ?? body['max_tokens'];
  return answerTo({
    prompt,
    material,
    directives,
    inputTokens: promptTokens(endpoint, body, prompt),
    maxOutputTokens: Number(limit ?? Number.POSITIVE_INFINITY),
    schema: schemaOf(body),
    tool: chooseTool(toolsOf(body), choiceOf(body), directives),
  });
}

/** The usage object of a reply, in the endpoint's own shape, unless a directive wants none or an unknown one. */
export function usageField(item: Item, usage: unknown): { usage?: unknown } {
  if (item.directives.usage === 'none') return {};
  if (item.directives.usage === 'alien') return { usage: { units_read: 12, units_written: 34 } };
  return { usage };
}

/** Functions in the chat shape, where they stand in `function`, or in that of responses. */
function toolsOf(body: Body): Tool[] {
  const tools = Array.isArray(body['tools']) ? body['tools'] : [];
  return tools.flatMap((tool) => {
    const { name, parameters } = asBody(asBody(tool)['function'] ?? tool);
    return typeof name === 'string' ? [{ name, parameters }] : [];
  });
}

function choiceOf(body: Body): { mustCall: boolean; name?: string | undefined } {
  const choice = body['tool_choice'];
  if (choice === 'required') return { mustCall: true };
  const { name } = asBody(asBody(choice)['function'] ?? choice);
  return typeof name === 'string' ? { mustCall: true, name } : { mustCall: false };
}
