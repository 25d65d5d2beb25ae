import type { Catalogue } from './catalogue.ts';
import { GatewayError } from './gateway-error.ts';
import type { ModelAliases } from './model-alias.ts';
import type { Provider } from './provider.ts';
import { listCandidates } from './routing.ts';
import type { TaskType } from './task.ts';

const PROVIDER_OF: { readonly [type in TaskType]: Provider } = {
  OPENAI: 'openai',
  ANTHROPIC: 'anthropic',
  GEMINI: 'gemini',
};

/** The alias that a task runs on which names no model. */
export const DEFAULT_MODEL_OF: { readonly [type in TaskType]: string } = {
  OPENAI: 'task-openai',
  ANTHROPIC: 'task-anthropic',
  GEMINI: 'task-gemini',
};

/** What a task's model leads to: its name, and the aliases with no more of that name than its type's provider has. */
export interface TaskModel {
  readonly name: string;
  readonly provider: Provider;
  readonly aliases: ModelAliases;
}

/**
 * The model of a task. Throws `model_unknown` for a name of nothing, and `invalid_request` for one that leads to other
 * providers than the task's type.
 */
export function findTaskModel(
  { taskType, model }: { readonly taskType: TaskType; readonly model: string | undefined },
  facts: { readonly aliases: ModelAliases; readonly catalogue: Catalogue; readonly jobId: string },
): TaskModel {
  const name = model ?? DEFAULT_MODEL_OF[taskType];
  const provider = PROVIDER_OF[taskType];
  const candidates = listCandidates(name, facts);
  if (candidates.length === 0) {
    const message = `Unknown model "${name}". Use an alias, a model or provider/model from GET /v1/models.`;
    throw new GatewayError('model_unknown', message, { field: 'payload.model' });
  }
  if (!candidates.some((candidate) => candidate.provider === provider)) {
    const message = `"${name}" does not lead to ${provider}, where tasks of the type ${taskType} run. Choose another model or type.`;
    throw new GatewayError('invalid_request', message, { field: 'payload.model' });
  }
  const targets = (facts.aliases[name] ?? []).filter((target) => target.provider === provider);
  const isAlias = Object.hasOwn(facts.aliases, name);
  return { name, provider, aliases: isAlias ? { ...facts.aliases, [name]: targets } : facts.aliases };
}
