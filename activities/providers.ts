import type { Provider } from '../domain/provider.ts';
import type { BatchProvider } from '../providers/provider.ts';

/** Throws for a provider without an adapter: admission refuses jobs for those, so none can come this far. */
export function getProvider(providers: ReadonlyMap<Provider, BatchProvider>, provider: Provider): BatchProvider {
  const adapter = providers.get(provider);
  if (adapter === undefined) throw new Error(`no adapter for ${provider}`);
  return adapter;
}
