import type { Provider } from '../domain/provider.ts';
import { createOpenAiProvider } from './openai/adapter.ts';
import type { BatchProvider } from './provider.ts';

export interface ProviderSettings {
  /** Null for a provider that is not set up. */
  openai: ProviderAccess | null;
  requestTimeoutMs: number;
  idleTimeoutMs: number;
}

interface ProviderAccess {
  apiKey: string;
  /** Null for the provider's own address. */
  baseUrl: string | null;
}

/** An adapter for each provider that is set up. */
export function createProviders(settings: ProviderSettings): ReadonlyMap<Provider, BatchProvider> {
  const { openai, requestTimeoutMs, idleTimeoutMs } = settings;
  const timeouts = { requestTimeoutMs, idleTimeoutMs };
  const providers = new Map<Provider, BatchProvider>();
  if (openai !== null) providers.set('openai', createOpenAiProvider({ ...openai, ...timeouts }));
  return providers;
}
