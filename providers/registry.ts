import type { Provider } from '../domain/provider.ts';
import { type AnthropicSettings, createAnthropicProvider } from './anthropic/adapter.ts';
import { createGeminiProvider } from './gemini/adapter.ts';
import { withoutCredential } from './missing-credential.ts';
import { createOpenAiProvider, type OpenAiSettings } from './openai/adapter.ts';
import type { BatchProvider } from './provider.ts';

export interface ProviderSettings {
  openai: ProviderAccess;
  anthropic: ProviderAccess & Pick<AnthropicSettings, 'apiVersion'>;
  gemini: ProviderAccess;
  /** Others that speak OpenAI's batch API. */
  compatible?: readonly (ProviderAccess & NonNullable<OpenAiSettings['compatible']>)[];
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
  const { openai, anthropic, gemini, compatible = [], requestTimeoutMs, idleTimeoutMs } = settings;
  const timeouts = { requestTimeoutMs, idleTimeoutMs };
  const adapters = [
    withKey(openai, (access) => createOpenAiProvider({ ...access, ...timeouts })),
    withKey(anthropic, (access) => createAnthropicProvider({ ...access, ...timeouts })),
    withKey(gemini, (access) => createGeminiProvider({ ...access, ...timeouts })),
    ...compatible.map(({ apiKey, baseUrl, ...own }) =>
      withKey({ apiKey, baseUrl }, (access) => createOpenAiProvider({ ...access, compatible: own, ...timeouts })),
    ),
  ];
  return new Map(adapters.map((adapter) => [adapter.provider, adapter]));
}

function withKey<Access extends ProviderAccess>(
  access: Access,
  create: (access: Access & { apiKey: string }) => BatchProvider,
): BatchProvider {
  const { apiKey } = access;
  return apiKey === null ? withoutCredential(create({ ...access, apiKey: 'none' })) : create({ ...access, apiKey });
}
