import type { ProviderSettings } from './registry.ts';

type Compatible = NonNullable<ProviderSettings['compatible']>[number];

/** How the environment says that providers are reached. */
interface EnvironmentAccess extends Pick<ProviderSettings, 'openai' | 'gemini'> {
  readonly anthropic: Pick<ProviderSettings['anthropic'], 'apiKey' | 'baseUrl'>;
  readonly providerFacts: {
    readonly anthropicApiVersion: ProviderSettings['anthropic']['apiVersion'];
    readonly configured: readonly {
      readonly name: Compatible['provider'];
      readonly base_url: string;
      readonly auth: Compatible['auth'];
      readonly line_path_prefix: string;
    }[];
  };
  /** Of the providers of the providers file, by their names. */
  readonly configuredKeys: ReadonlyMap<string, string>;
}

/** The same in every process that speaks to providers. */
export function environmentSettings(
  config: EnvironmentAccess,
  timeouts: Pick<ProviderSettings, 'requestTimeoutMs' | 'idleTimeoutMs'>,
): ProviderSettings {
  const { openai, anthropic, gemini, providerFacts } = config;
  return {
    openai,
    anthropic: { ...anthropic, apiVersion: providerFacts.anthropicApiVersion },
    gemini,
    compatible: compatibleProviders(config),
    ...timeouts,
  };
}

/** The providers of the providers file, each with its key where the environment holds one. */
export function compatibleProviders({
  providerFacts,
  configuredKeys,
}: Pick<EnvironmentAccess, 'configuredKeys'> & {
  readonly providerFacts: Pick<EnvironmentAccess['providerFacts'], 'configured'>;
}): Compatible[] {
  return providerFacts.configured.map(({ name, base_url, auth, line_path_prefix }) => ({
    provider: name,
    apiKey: configuredKeys.get(name) ?? null,
    baseUrl: base_url,
    auth,
    pathPrefix: line_path_prefix,
  }));
}
