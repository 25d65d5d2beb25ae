import type { Block, Message } from './content-schema.ts';
import { invalid, type StatusError } from './errors.ts';
import { type CheckedParams, readParams } from './params-schema.ts';
import type { Params } from './prompt.ts';
import type { ApiVersion } from './versions.ts';

/** Newer models that let no caller force a tool (Anthropic tool use docs). */
const NO_FORCED_TOOL = /^claude-(opus-5-5|sonnet-5-5|fable-5)(-|$)/;

/** What the API finds wrong with a Messages body, alone or inside a batch; undefined when it would run. */
export function paramsError(params: Params, call: { version: ApiVersion; isBatch: boolean }): StatusError | undefined {
  const read = readParams(params, call.version);
  if ('problem' in read) return invalid(read.problem);
  const { checked } = read;
  if (checked.model.startsWith('unknown-')) {
    return { status: 404, type: 'not_found_error', message: `model: ${checked.model}` };
  }
  const problem =
    (call.isBatch ? notInBatches(checked) : undefined) ??
    toolProblem(checked) ??
    thinkingProblem(checked) ??
    turnProblem(checked.messages, call.version);
  return problem === undefined ? undefined : invalid(problem);
}

function notInBatches({ stream, speed, diagnostics }: CheckedParams): string | undefined {
  if (stream) return 'stream: Streaming is not supported in Message Batches';
  if (speed) return 'speed: not supported in Message Batches';
  if (diagnostics) return 'diagnostics: not supported in Message Batches';
  return undefined;
}

function toolProblem({ model, tools = [], tool_choice: choice }: CheckedParams): string | undefined {
  const names = tools.map(({ name }) => name).filter((name) => name !== undefined);
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.';
  if (choice?.type !== 'any' && choice?.type !== 'tool') return undefined;
  if (NO_FORCED_TOOL.test(model)) return `tool_choice: ${model} does not support forced tool use`;
  if (tools.length === 0) return 'tool_choice: may only be specified while providing tools';
  if (choice.type === 'tool' && !names.includes(choice.name)) {
    return `tool_choice.tool.name: Tool '${choice.name}' not found in provided tools`;
  }
  return undefined;
}

function thinkingProblem(params: CheckedParams): string | undefined {
  const { thinking, tool_choice: choice, max_tokens: maxTokens } = params;
  if (thinking?.type !== 'enabled') return undefined;
  if (thinking.budget_tokens >= maxTokens) return 'max_tokens: must be greater than thinking.budget_tokens';
  const isForced = choice?.type === 'any' || choice?.type === 'tool';
  return isForced ? 'Thinking may not be enabled when tool_choice forces tool use.' : undefined;
}

/** Rules that need the turns before: which block may stand where, and which call a tool's result answers. */
function turnProblem(messages: readonly Message[], version: ApiVersion): string | undefined {
  const calls = new Set<string>();
  for (const [place, { role, content }] of messages.entries()) {
    const isLastAnswer = role === 'assistant' && place === messages.length - 1;
    if (content.length === 0 && !isLastAnswer) return `messages.${place}: all messages must have non-empty content`;
    if (typeof content === 'string') continue;
    for (const [index, block] of content.entries()) {
      const problem = blockProblem(block, role, version) ?? callProblem(block, calls);
      if (problem !== undefined) return `messages.${place}.content.${index}: ${problem}`;
    }
  }
  return undefined;
}

const ONLY_USER: readonly Block['type'][] = ['image', 'tool_result'];
const ONLY_ASSISTANT: readonly Block['type'][] = ['tool_use', 'thinking', 'redacted_thinking'];

function blockProblem(block: Block, role: Message['role'], version: ApiVersion): string | undefined {
  const { type } = block;
  const isMisplaced =
    (ONLY_USER.includes(type) && role !== 'user') ||
    (ONLY_ASSISTANT.includes(type) && role !== 'assistant') ||
    (role === 'system' && type !== 'text');
  if (isMisplaced) return `\`${type}\` blocks may not stand in ${role} messages`;
  if (version === '2023-06-01') return undefined;
  if (type === 'document' && role === 'assistant') return '`document` blocks may not stand in assistant messages';
  if (type === 'text' && role === 'user' && block.citations) return 'citations: not permitted in user messages';
  return undefined;
}

/** Notes the call a block makes, and checks the one it answers. */
function callProblem(block: Block, calls: Set<string>): string | undefined {
  if (block.type === 'tool_use') {
    if (calls.has(block.id)) return '`tool_use` ids must be unique';
    calls.add(block.id);
  }
  if (block.type !== 'tool_result' || calls.has(block.tool_use_id)) return undefined;
  return (
    `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. ` +
    'Each `tool_result` block must have a `tool_use` block before it.'
  );
}
