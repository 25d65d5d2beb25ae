import type { Provider } from '../domain/provider.ts';
import type { BatchProvider } from './provider.ts';

/** The adapters of every provider, one for each credential that is used with it. */
export interface ProviderAdapters {
  /** The providers that have an adapter, with or without a credential of the gateway's own. */
  readonly names: readonly Provider[];
  /**
   * The adapter that speaks with this credential (`gateway` for the key of the environment). A credential that is gone, or
   * not configured, gives an adapter whose every call is refused as a wrong key is. Throws for a provider without an
   * adapter: admission refuses jobs for those, so none can come this far.
   */
  of(provider: Provider, credentialId: string): Promise<BatchProvider>;
}

/** Those of one set of keys, whatever credential is asked for. */
export function fixedAdapters(adapters: ReadonlyMap<Provider, BatchProvider>): ProviderAdapters {
  return {
    names: [...adapters.keys()],
    of: async (provider) => {
      const adapter = adapters.get(provider);
      if (adapter === undefined) throw new Error(`no adapter for ${provider}`);
      return adapter;
    },
  };
}
