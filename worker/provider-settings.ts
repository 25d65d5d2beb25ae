import type { WorkerConfig } from '../config/env.ts';
import type { ProviderSettings } from '../providers/registry.ts';

/** The providers of the providers file, each with its key where the environment holds one. */
export function compatibleProviders({
  providerFacts,
  configuredKeys,
}: Pick<WorkerConfig, 'providerFacts' | 'configuredKeys'>): NonNullable<ProviderSettings['compatible']> {
  return providerFacts.configured.map(({ name, base_url, auth, line_path_prefix }) => ({
    provider: name,
    apiKey: configuredKeys.get(name) ?? null,
    baseUrl: base_url,
    auth,
    pathPrefix: line_path_prefix,
  }));
}
