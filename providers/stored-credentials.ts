import { GATEWAY_CREDENTIAL } from '../domain/gateway-credential.ts';
import type { Provider } from '../domain/provider.ts';
import type { BatchProvider } from './provider.ts';
import type { ProviderAdapters } from './provider-adapters.ts';
import type { AdapterMaker } from './registry.ts';

/** Where keys lie sealed, and what opens them. */
export interface CredentialStore {
  /** Null for an id that no credential has. */
  read(credentialId: string): Promise<StoredKey | null>;
  /** Throws where the key that sealed it is not there. Its errors quote no secret. */
  open(sealed: Uint8Array, credentialId: string): Promise<Uint8Array>;
}

interface StoredKey {
  readonly provider: Provider;
  /** Another with each change. */
  readonly version: number;
  /** Null where it was revoked. */
  readonly sealed: Uint8Array | null;
}

interface Kept {
  readonly version: number;
  readonly adapter: BatchProvider;
  readonly checkedAt: number;
}

/** For so long a change of a credential may go unseen. */
const CHECK_EVERY_MS = 2_000;
/** Adapters kept, each with its key in memory; those used longest ago go first. */
const MAX_KEPT = 500;

/** The adapters of the environment's keys, and of every credential that is stored, as it is at the time. */
export function createProviderAdapters(
  makers: readonly AdapterMaker[],
  store: CredentialStore,
  now: () => number = Date.now,
): ProviderAdapters {
  const makerOf = new Map(makers.map((maker) => [maker.provider, maker]));
  const ofEnvironment = new Map(
    makers.map(({ provider, apiKey, make, makeRefusing }) => [
      provider,
      apiKey === null ? makeRefusing() : make(apiKey),
    ]),
  );
  const kept = new Map<string, Kept>();

  async function ofStore(maker: AdapterMaker, credentialId: string): Promise<BatchProvider> {
    const before = kept.get(credentialId);
    const checkedAt = now();
    if (before !== undefined && checkedAt - before.checkedAt < CHECK_EVERY_MS) return keep(credentialId, before);
    const stored = await store.read(credentialId);
    if (stored === null || stored.sealed === null || stored.provider !== maker.provider) {
      kept.delete(credentialId);
      return maker.makeRefusing(`the credential ${credentialId} is ${stored?.sealed === null ? 'revoked' : 'unknown'}`);
    }
    if (before?.version === stored.version) return keep(credentialId, { ...before, checkedAt });
    try {
      const apiKey = Buffer.from(await store.open(stored.sealed, credentialId)).toString();
      return keep(credentialId, { version: stored.version, adapter: maker.make(apiKey), checkedAt });
    } catch (error) {
      kept.delete(credentialId);
      const reason = error instanceof Error ? error.message : 'no reason given';
      return maker.makeRefusing(`the credential ${credentialId} cannot be opened: ${reason}`);
    }
  }

  function keep(credentialId: string, entry: Kept): BatchProvider {
    kept.delete(credentialId);
    kept.set(credentialId, entry);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry.adapter;
  }

  return {
    names: [...makerOf.keys()],
    of: async (provider, credentialId) => {
      const [maker, gateway] = [makerOf.get(provider), ofEnvironment.get(provider)];
      if (maker === undefined || gateway === undefined) throw new Error(`no adapter for ${provider}`);
      return credentialId === GATEWAY_CREDENTIAL ? gateway : ofStore(maker, credentialId);
    },
  };
}
