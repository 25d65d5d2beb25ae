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
    [
      'OpenAI',
      simulators.openai_url === null
        ? 'the real one'
        : `simulated at ${simulators.openai_url}  (OPENAI_API_KEY turns to the real one)`,
    ],
    ['tenant key', ready.tenant_key],
    ['operator key', ready.operator_key],
    ['admin key', ready.admin_key],
  ]);
}
