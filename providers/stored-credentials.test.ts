import { expect, test } from 'vitest';
import type { BatchProvider } from './provider.ts';
import { ProviderError } from './provider-error.ts';
import { type AdapterMaker, createAdapterMakers } from './registry.ts';
import { createProviderAdapters } from './stored-credentials.ts';

const signal = new AbortController().signal;
const NONE = { apiKey: null, baseUrl: null };
const REAL = createAdapterMakers({
  ...{ openai: NONE, anthropic: { ...NONE, apiVersion: '2026-10-21' }, gemini: NONE },
  ...{ requestTimeoutMs: 1_000, idleTimeoutMs: 1_000 },
});

/** Adapters that say which key they hold; a store that can be changed; a clock. */
function world(environmentKey: string | null = 'of-environment') {
  const made: string[] = [];
  const rows = new Map<string, { provider: string; version: number; sealed: Buffer | null }>();
  const clock = { ms: 0 };
  const reads = { count: 0 };
  const openAi = REAL.find(({ provider }) => provider === 'openai');
  if (openAi === undefined) throw new Error('unreachable');
  const maker: AdapterMaker = {
    ...openAi,
    apiKey: environmentKey,
    make: (apiKey) => {
      made.push(apiKey);
      const refusal = new ProviderError({
        code: 'not_found',
        message: apiKey,
        isRetryable: false,
        mayHaveActed: false,
      });
      const retrieveBatch = async () => {
        throw refusal;
      };
      return { ...openAi.makeRefusing(), retrieveBatch };
    },
  };
  const store = {
    read: async (id: string) => {
      reads.count += 1;
      return rows.get(id) ?? null;
    },
    open: async (sealed: Uint8Array) => {
      const text = Buffer.from(sealed).toString();
      if (text === 'broken') throw new Error('sealed by the key old, which is not configured');
      return sealed;
    },
  };
  const adapters = createProviderAdapters([maker], store, () => clock.ms);
  const set = (id: string, version: number, key: string | null, provider = 'openai') =>
    rows.set(id, { provider, version, sealed: key === null ? null : Buffer.from(key) });
  return { adapters, set, clock, made, reads };
}

async function answerOf(adapter: BatchProvider): Promise<string> {
  const error: unknown = await adapter.retrieveBatch({ providerBatchId: 'b', signal }).catch((caught) => caught);
  if (!(error instanceof ProviderError)) throw new Error('it answered');
  return `${error.code}: ${error.message}`;
}

test('the environment’s key is `gateway`, and every stored one speaks for itself', async () => {
  const { adapters, set } = world();
  set('cred_a', 1, 'key-a');
  set('cred_b', 1, 'key-b');
  for (const [id, key] of [
    ['gateway', 'of-environment'],
    ['cred_a', 'key-a'],
    ['cred_b', 'key-b'],
  ] as const)
    expect(await answerOf(await adapters.of('openai', id))).toBe(`not_found: ${key}`);
  expect(adapters.names).toEqual(['openai']);
  await expect(adapters.of('acme', 'gateway')).rejects.toThrow('no adapter for acme');
});

test('one that is unknown, revoked, of another provider or sealed by a key that is gone is refused as a wrong key is', async () => {
  const { adapters, set } = world();
  set('cred_revoked', 2, null);
  set('cred_other', 1, 'key', 'gemini');
  set('cred_sealed', 1, 'broken');
  const answers = ['cred_x', 'cred_revoked', 'cred_other', 'cred_sealed'].map(async (id) =>
    answerOf(await adapters.of('openai', id)),
  );
  expect(await Promise.all(answers)).toEqual([
    'credential_refused: the credential cred_x is unknown',
    'credential_refused: the credential cred_revoked is revoked',
    'credential_refused: the credential cred_other is unknown',
    'credential_refused: the credential cred_sealed cannot be opened: sealed by the key old, which is not configured',
  ]);
});

test('a change is seen within two seconds, and until then, or where there is none, the adapter is the same', async () => {
  const { adapters, set, clock, made, reads } = world();
  set('cred_a', 1, 'before');
  const first = await adapters.of('openai', 'cred_a');
  set('cred_a', 2, 'after');
  expect(await adapters.of('openai', 'cred_a')).toBe(first);
  expect(reads.count).toBe(1);
  clock.ms += 2_000;
  expect(await answerOf(await adapters.of('openai', 'cred_a'))).toBe('not_found: after');
  clock.ms += 2_000;
  await adapters.of('openai', 'cred_a');
  expect(made).toEqual(['of-environment', 'before', 'after']);
  set('cred_a', 3, null);
  clock.ms += 2_000;
  expect(await answerOf(await adapters.of('openai', 'cred_a'))).toContain('is revoked');
  set('cred_a', 4, 'again');
  expect(await answerOf(await adapters.of('openai', 'cred_a'))).toBe('not_found: again');
});

test('no more than five hundred are kept, and those used longest ago go first', async () => {
  const { adapters, set, made } = world(null);
  const use = async (no: number) => {
    set(`cred_${no}`, 1, `key-${no}`);
    await adapters.of('openai', `cred_${no}`);
  };
  for (let no = 0; no < 500; no += 1) await use(no);
  await use(0);
  await use(500);
  expect(made).toHaveLength(501);
  await use(0);
  expect(made).toHaveLength(501);
  await use(1);
  expect(made).toHaveLength(502);
});
