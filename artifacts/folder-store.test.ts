import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { createArtifactStore } from './create-store.ts';
import { createFolderStore } from './folder-store.ts';
import { ArtifactStoreError } from './store.ts';
import { testStoreContract } from './testing/store-contract.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'batchgate-artifacts-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a store in a folder', () => {
  testStoreContract(() => createFolderStore(folder));

  test('leaves no unfinished file behind', () => {
    expect(readdirSync(path.join(folder, '.unfinished'))).toEqual([]);
  });

  test('one that cannot be written is unavailable', async () => {
    const file = path.join(folder, 'file');
    writeFileSync(file, '');
    const store = createFolderStore(file);
    const content = async function* () {
      yield Buffer.from('x');
    };
    const put = store.put('a/b', content(), new AbortController().signal);
    await expect(put).rejects.toThrow(ArtifactStoreError);
  });

  test('is made from a URL, with its escapes', async () => {
    const place = path.join(folder, 'with space');
    const settings = { s3: { endpoint: null, region: null, usesPathStyle: false }, isEncrypted: false };
    const cipher = { seal: fail, open: fail, keyIdOf: () => '', currentKeyId: '' };
    const store = await createArtifactStore({ url: pathToFileURL(place).href, ...settings }, cipher);
    const content = async function* () {
      yield Buffer.from('x');
    };
    await store?.put('a', content(), new AbortController().signal);
    expect(readdirSync(place)).toContain('a');
    expect(await createArtifactStore(null, cipher)).toBeNull();
  });
});

async function fail(): Promise<never> {
  throw new Error('nothing is sealed here');
}
