import type { Provider } from '../domain/provider.ts';
import { type AnthropicSettings, createAnthropicProvider } from './anthropic/adapter.ts';
import { createGeminiProvider } from './gemini/adapter.ts';
import { keepSecret } from './keep-secret.ts';
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

/** How the adapters of one provider are made: all alike but for the key. */
export interface AdapterMaker {
  readonly provider: Provider;
  /** The key of the environment; null where it has none. */
  readonly apiKey: string | null;
  make(apiKey: string): BatchProvider;
  /** One that refuses every call, and says why, so that its jobs say what they wait for. */
  makeRefusing(why?: string): BatchProvider;
}

/** One for each provider. */
export function createAdapterMakers(settings: ProviderSettings): readonly AdapterMaker[] {
  const { openai, anthropic, gemini, compatible = [], requestTimeoutMs, idleTimeoutMs } = settings;
  const timeouts = { requestTimeoutMs, idleTimeoutMs };
  return [
    maker('openai', openai, (access) => createOpenAiProvider({ ...access, ...timeouts })),
    maker('anthropic', anthropic, (access) => createAnthropicProvider({ ...access, ...timeouts })),
    maker('gemini', gemini, (access) => createGeminiProvider({ ...access, ...timeouts })),
    ...compatible.map(({ apiKey, baseUrl, ...own }) =>
      maker(own.provider, { apiKey, baseUrl }, (access) =>
        createOpenAiProvider({ ...access, compatible: own, ...timeouts }),
      ),
    ),
  ];
}

function maker<Access extends ProviderAccess>(
  provider: Provider,
  access: Access,
  create: (access: Access & { apiKey: string }) => BatchProvider,
): AdapterMaker {
  return {
    provider,
    apiKey: access.apiKey,
    make: (apiKey) => keepSecret(create({ ...access, apiKey }), apiKey),
    makeRefusing: (why) => withoutCredential(create({ ...access, apiKey: 'none' }), why),
  };
}
