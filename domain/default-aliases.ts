import type { AliasTarget, ModelAliases } from './model-alias.ts';

/**
 * Aliases that every tenant starts with. Later targets are similar in price, and tried where the first cannot run a job. Those
 * that begin with `task-` are what a task runs on which names no model.
 */
export const DEFAULT_ALIASES: ModelAliases = {
  'analysis-large': [
    target('openai', 'gpt-5.6-terra'),
    target('anthropic', 'claude-sonnet-5-5'),
    target('gemini', 'gemini-3.8-flash'),
  ],
  'analysis-small': [
    target('openai', 'gpt-5.6-luna'),
    target('anthropic', 'claude-haiku-5-5'),
    target('gemini', 'gemini-3.1-flash-lite'),
  ],
  'embedding-small': [target('openai', 'text-embedding-3-small')],
  moderation: [target('openai', 'omni-moderation-latest')],
  'task-openai': [target('openai', 'gpt-5.6-luna')],
  'task-anthropic': [target('anthropic', 'claude-haiku-5-5')],
  'task-gemini': [target('gemini', 'gemini-3.1-flash-lite')],
};

function target(provider: string, model: string): AliasTarget {
  return { provider, model, region: null, weight: null };
}
