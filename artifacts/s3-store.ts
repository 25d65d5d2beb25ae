import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { type ArtifactStore, ArtifactStoreError, requireKey, requirePrefix } from './store.ts';
import { translateErrors } from './translate-errors.ts';

const { translated, readTranslated } = translateErrors(toStoreError);

/** Where a bucket is. Credentials come by the SDK's own chain: variables, files, roles. */
export interface S3Settings {
  readonly bucket: string;
  /** Before every key; empty, or without a slash at its ends. */
  readonly prefix: string;
  /** Null for AWS itself. */
  readonly endpoint: string | null;
  /** Null for what the environment says. */
  readonly region: string | null;
  /** The bucket in the path instead of the host name, as most other servers want it. */
  readonly usesPathStyle: boolean;
}

/** Three of them are the most that one upload holds; with S3's 10,000 parts a file may have some 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
const CONNECT_TIMEOUT_MS = 10_000;
/** Without a byte. */
const IDLE_TIMEOUT_MS = 60_000;

/** A store in a bucket of S3, or of a server that speaks its API. Uploads go in parts, and show once they are whole. */
export function createS3Store(settings: S3Settings): ArtifactStore {
  const client = new S3Client({
    ...(settings.endpoint !== null && { endpoint: settings.endpoint }),
    ...(settings.region !== null && { region: settings.region }),
    forcePathStyle: settings.usesPathStyle,
    maxAttempts: 3,
    // Other servers know no trailing checksums; bytes are proven by our own hash and seal.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
  });
  const Bucket = settings.bucket;
  const base = settings.prefix === '' ? '' : `${settings.prefix}/`;
  const target = (key: string) => {
    requireKey(key);
    return { Bucket, Key: `${base}${key}` };
  };
  return {
    put: (key, content, signal) => put(client, target(key), content, signal),
    get: async (key, signal) => {
      const command = new GetObjectCommand(target(key));
      const { Body } = await translated(() => client.send(command, { abortSignal: signal }));
      if (!(Body instanceof Readable)) throw new ArtifactStoreError('unavailable', 'the artifact store sent no body');
      return readTranslated(Body);
    },
    has: async (key) => {
      const command = new HeadObjectCommand(target(key));
      return translated(() => client.send(command).then(() => true, absentIs(false)));
    },
    delete: async (key) => {
      const command = new DeleteObjectCommand(target(key));
      await translated(() => client.send(command).catch(absentIs(null)));
    },
    list: (prefix) => {
      requirePrefix(prefix);
      return listKeys(client, { Bucket, base, prefix });
    },
  };
}

/** A failed upload has its parts removed; what a crash leaves of one is for the bucket's lifecycle rule. */
async function put(
  client: S3Client,
  target: { readonly Bucket: string; readonly Key: string },
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<{ bytes: number }> {
  signal.throwIfAborted();
  const source = new Counted(content);
  const Body = Readable.from(source.bytes(), { objectMode: false });
  const upload = new Upload({ client, params: { ...target, Body }, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE });
  const onAbort = (): void => {
    Body.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    void upload.abort();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await upload.done();
    return { bytes: source.count };
  } catch (error) {
    // What the content itself threw is not the store's fault.
    if (source.error !== null) throw source.error;
    signal.throwIfAborted();
    throw toStoreError(error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

class Counted {
  count = 0;
  error: unknown = null;
  readonly #content: AsyncIterable<Uint8Array>;

  constructor(content: AsyncIterable<Uint8Array>) {
    this.#content = content;
  }

  async *bytes(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#content) {
        this.count += chunk.length;
        yield chunk;
      }
    } catch (error) {
      this.error = error;
      throw error;
    }
  }
}

async function* listKeys(
  client: S3Client,
  { Bucket, base, prefix }: { readonly Bucket: string; readonly base: string; readonly prefix: string },
): AsyncGenerator<string> {
  let token: string | undefined;
  do {
    const command = new ListObjectsV2Command({ Bucket, Prefix: `${base}${prefix}`, ContinuationToken: token });
    const page = await translated(() => client.send(command));
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key.slice(base.length);
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}

function toStoreError(error: unknown): Error {
  if (error instanceof Error && error.name === 'AbortError') return error;
  if (isAbsent(error)) return new ArtifactStoreError('missing', 'the store has no such artifact', { cause: error });
  const said = error instanceof Error ? error.name : 'nothing';
  return new ArtifactStoreError('unavailable', `the artifact store answered ${said}`, { cause: error });
}

/** A bucket that is not there is no absent file, but a store that cannot be used. */
function isAbsent(error: unknown): boolean {
  if (!(error instanceof S3ServiceException) || error.name === 'NoSuchBucket') return false;
  return error.$metadata.httpStatusCode === 404;
}

function absentIs<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (isAbsent(error)) return value;
    throw error;
  };
}
