import { randomBytes } from 'node:crypto';
import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createArtifactStore } from '../../artifacts/create-store.ts';
import { ArtifactStoreError } from '../../artifacts/store.ts';
import { testStoreContract } from '../../artifacts/testing/store-contract.ts';
import { TEST_CIPHER } from '../harness/activities.ts';
import { growthWhile } from '../harness/held-memory.ts';
import { startS3Server } from '../harness/s3-server.ts';

// The SDK looks here for them by itself.
vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
const server = await startS3Server();
afterAll(() => server.close());
const BUCKET = 'kept';
const s3 = { endpoint: server.endpoint, region: 'us-east-1', usesPathStyle: true };
const client = new S3Client({ endpoint: server.endpoint, region: s3.region, forcePathStyle: true });
await client.send(new CreateBucketCommand({ Bucket: BUCKET }));

async function createStore(url = `s3://${BUCKET}/some/prefix`) {
  const store = await createArtifactStore({ url, s3, isEncrypted: false }, TEST_CIPHER);
  if (store === null) throw new Error('no store was made');
  return store;
}

const bucket = await createStore();
const never = () => new AbortController().signal;

async function* content(chunks: number): AsyncGenerator<Buffer> {
  for (let chunk = 0; chunk < chunks; chunk += 1) yield randomBytes(1024 * 1024);
}

describe('a store in a bucket', () => {
  testStoreContract(() => bucket);

  test('leaves no part of an upload that failed', async () => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
    expect(Uploads).toEqual([]);
  });

  test('one without a prefix is the bucket itself', async () => {
    await (await createStore(`s3://${BUCKET}`)).put('alone/a', content(1), never());
    const alone = await createStore(`s3://${BUCKET}/alone/`);
    expect(await Array.fromAsync(alone.list('x/'))).toEqual([]);
    expect(await alone.has('a')).toBe(true);
  });

  test('lists more keys than fit a page of the server', async () => {
    const store = await createStore(`s3://${BUCKET}/many`);
    const keys = Array.from({ length: 1_050 }, (_, index) => `jobs/${index}`);
    for (let first = 0; first < keys.length; first += 50) {
      await Promise.all(keys.slice(first, first + 50).map((key) => store.put(key, content(0), never())));
    }
    expect((await Array.fromAsync(store.list('jobs/'))).toSorted()).toEqual(keys.toSorted());
  });

  test('a bucket that is not there is no absent file but a store that is away', async () => {
    const store = await createStore('s3://nowhere');
    for (const call of [() => store.get('a', never()), () => store.put('a', content(1), never())]) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ArtifactStoreError);
      expect(error).toMatchObject({ fault: 'unavailable' });
    }
  });

  test('an upload holds a few parts in memory, however long it is', async () => {
    const growth = await growthWhile(() => bucket.put('large/file', content(200), never()));
    expect(growth).toBeLessThan(100 * 1024 * 1024);
  });
});
