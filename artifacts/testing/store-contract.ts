import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyRing, KEY_BYTES } from '../../encryption/key-ring.ts';
import { createSealedStore } from '../sealed-store.ts';
import { type ArtifactStore, ArtifactStoreError, deleteAll } from '../store.ts';

const LARGE_BYTES = 20 * 1024 * 1024;

/** What every store of artifacts does, clear and sealed. */
export function testStoreContract(createStore: () => ArtifactStore): void {
  const cipher = createKeyRing([{ id: 'test', key: randomBytes(KEY_BYTES) }]);
  const folder = () => `jobs/job_${randomUUID().replaceAll('-', '')}`;

  test.each([
    ['clear', (store: ArtifactStore) => store],
    ['sealed', (store: ArtifactStore) => createSealedStore(store, cipher)],
  ])('a %s file comes back as it was, whatever its size', async (_, wrap) => {
    const store = wrap(createStore());
    for (const size of [0, 1, 65_536, LARGE_BYTES]) {
      const key = `${folder()}/1/1/1.jsonl.zst`;
      const content = randomBytes(size);
      await store.put(key, inChunks(content), never());
      expect((await readWhole(store, key)).equals(content)).toBe(true);
    }
  });

  test('a sealed file holds nothing of its content, and opens under no other key', async () => {
    const store = createStore();
    const sealed = createSealedStore(store, cipher);
    const [one, other] = [`${folder()}/1.zst`, `${folder()}/1.zst`];
    const content = Buffer.from('planted '.repeat(1_000));
    await sealed.put(one, inChunks(content), never());
    const stored = await readWhole(store, one);
    expect(stored.includes('planted')).toBe(false);
    await store.put(other, inChunks(stored), never());
    await expect(readWhole(sealed, other)).rejects.toThrow();
  });

  test('putting again takes the place of what was there', async () => {
    const store = createStore();
    const key = `${folder()}/a`;
    await store.put(key, inChunks(Buffer.from('before')), never());
    expect(await store.put(key, inChunks(Buffer.from('after')), never())).toEqual({ bytes: 5 });
    expect((await readWhole(store, key)).toString()).toBe('after');
  });

  test('content that breaks off leaves nothing, and nothing of what it said is the store’s', async () => {
    const store = createStore();
    for (const [key, size] of [
      [`${folder()}/small`, 10],
      [`${folder()}/large`, LARGE_BYTES],
    ] as const) {
      const broken = async function* () {
        yield* inChunks(randomBytes(size));
        throw new Error('the download broke off');
      };
      await expect(store.put(key, broken(), never())).rejects.toThrow('the download broke off');
      expect(await store.has(key)).toBe(false);
    }
  });

  test('an upload that is not wanted any more leaves nothing', async () => {
    const store = createStore();
    const key = `${folder()}/a`;
    const stop = new AbortController();
    const endless = async function* () {
      for (let chunk = 0; ; chunk += 1) {
        if (chunk === 20) stop.abort(new Error('not wanted'));
        yield randomBytes(1024 * 1024);
      }
    };
    await expect(store.put(key, endless(), stop.signal)).rejects.toThrow();
    expect(await store.has(key)).toBe(false);
  });

  test('what is not there is missing, and deleting it is no error', async () => {
    const store = createStore();
    const key = `${folder()}/absent`;
    expect(await store.has(key)).toBe(false);
    await store.delete(key);
    const reading = readWhole(store, key);
    await expect(reading).rejects.toThrow(ArtifactStoreError);
    await expect(reading).rejects.toMatchObject({ fault: 'missing' });
  });

  test('lists and deletes what is under a prefix, and nothing else', async () => {
    const store = createStore();
    const job = folder();
    const neighbour = `${job}x/1`;
    const keys = Array.from({ length: 5 }, (_, index) => `${job}/${index}/1/1.jsonl.zst`);
    for (const key of [...keys, neighbour]) await store.put(key, inChunks(Buffer.from('x')), never());
    expect((await Array.fromAsync(store.list(`${job}/`))).toSorted()).toEqual(keys);
    expect(await deleteAll(store, `${job}/`)).toBe(5);
    expect(await Array.fromAsync(store.list(`${job}/`))).toEqual([]);
    expect(await store.has(neighbour)).toBe(true);
    expect(await deleteAll(store, `${job}/`)).toBe(0);
  });

  test.each(['../x', 'a/../b', '/etc/passwd', 'a//b', '', '.hidden', 'a/.unfinished', 'a\\b', 'a\0b', 'x'.repeat(600)])(
    'takes no key like %j',
    async (key) => {
      const store = createStore();
      await expect((async () => store.put(key, inChunks(Buffer.from('x')), never()))()).rejects.toThrow('not a key');
      await expect((async () => store.get(key, never()))()).rejects.toThrow('not a key');
      await expect((async () => store.delete(key))()).rejects.toThrow('not a key');
    },
  );
}

function never(): AbortSignal {
  return new AbortController().signal;
}

async function* inChunks(content: Buffer): AsyncGenerator<Buffer> {
  for (let first = 0; first < content.length; first += 100_000) yield content.subarray(first, first + 100_000);
}

async function readWhole(store: ArtifactStore, key: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(await store.get(key, never())));
}
