import type { Provider } from '../domain/provider.ts';
import { withoutCredential } from './missing-credential.ts';
import { createOpenAiProvider } from './openai/adapter.ts';
import type { BatchProvider } from './provider.ts';

export interface ProviderSettings {
  openai: ProviderAccess;
  requestTimeoutMs: number;
  idleTimeoutMs: number;
}

interface ProviderAccess {
  /** Null where none was given. */
  apiKey: string | null;
  /** Null for the provider's own address. */
  baseUrl: string | null;
}

/** An adapter for each provider; one without a credential refuses every call, so that its jobs say what they wait for. */
export function createProviders(settings: ProviderSettings): ReadonlyMap<Provider, BatchProvider> {
  const { openai, requestTimeoutMs, idleTimeoutMs } = settings;
  const timeouts = { requestTimeoutMs, idleTimeoutMs };
  const providers = new Map<Provider, BatchProvider>();
  providers.set(
    'openai',
    openai.apiKey === null
      ? withoutCredential(createOpenAiProvider({ ...openai, apiKey: 'none', ...timeouts }))
      : createOpenAiProvider({ ...openai, apiKey: openai.apiKey, ...timeouts }),
  );
  return providers;
}
