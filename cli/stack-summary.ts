import type { StackReady } from '../local/stack-options.ts';
import type { Context } from './command.ts';
import { fields } from './output.ts';

/** Where everything of a local stack is. */
export function describeStack(ready: StackReady, context: Pick<Context, 'terminal'>): string {
  const { simulators } = ready;
  return fields(context, [
    ['API', `${ready.api_url}  (reference: ${ready.api_url}/docs)`],
    ['Temporal UI', ready.temporal_ui_url],
    ['Temporal', `${ready.temporal_address}  (namespace ${ready.temporal_namespace})`],
    ['Postgres', ready.database_url],
    ['OpenAI', describeProvider(simulators.openai_url, 'OPENAI_API_KEY')],
    ['Anthropic', describeProvider(simulators.anthropic_url, 'ANTHROPIC_API_KEY')],
    ['Gemini', describeProvider(simulators.gemini_url, 'GEMINI_API_KEY')],
    ['tenant key', ready.tenant_key],
    ['operator key', ready.operator_key],
    ['admin key', ready.admin_key],
  ]);
}

function describeProvider(url: string | null, keyVariable: string): string {
  return url === null ? 'the real one' : `simulated at ${url}  (${keyVariable} turns to the real one)`;
}
