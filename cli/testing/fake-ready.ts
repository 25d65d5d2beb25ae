import type { StackReady } from '../../local/stack-options.ts';

/** What a local stack says of itself whose API is at `apiUrl`. */
export function fakeReady(apiUrl: string): StackReady {
  return {
    ready: true,
    api_url: apiUrl,
    admin_key: 'stack-admin',
    operator_key: 'stack-operator',
    tenant_key: 'stack-tenant',
    temporal_address: '127.0.0.1:7233',
    temporal_ui_url: null,
    temporal_namespace: 'default',
    database_url: 'postgresql://127.0.0.1/batchgate',
    simulators: {
      openai_url: 'http://127.0.0.1:9101/v1',
      anthropic_url: 'http://127.0.0.1:9102',
      gemini_url: 'http://127.0.0.1:9103',
      control_url: null,
    },
  };
}
