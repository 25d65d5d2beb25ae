import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { constants, createZstdCompress } from 'node:zlib';
import type { ArtifactStore } from '../artifacts/store.ts';
import { type ArtifactFacts, artifactKey, recordArtifact } from '../db/artifacts.ts';
import type { AttemptRow } from '../db/attempts.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { ResultFile } from '../providers/provider.ts';
import type { ActivityDependencies } from './dependencies.ts';

type Dependencies = Pick<ActivityDependencies, 'db' | 'artifacts' | 'now' | 'log'>;

export interface ReadFile {
  readonly job: JobRow;
  readonly attempt: AttemptRow;
  readonly file: ResultFile;
  readonly fileNo: number;
}

/** A store that takes no byte for this long is left: results do not wait for it. */
const STALL_MS = 30_000;
/** Of zstd: a low one keeps up with any download, and result lines shrink by three quarters. */
const LEVEL = 1;

/**
 * A result file as it is downloaded; of a job that is `raw` a copy goes to the artifact store on the way. It is noted once it
 * is whole. A store that is away or slow is noted too, and keeps no result: whoever reads the file again stores it again.
 */
export async function* keepArtifact(
  dependencies: Dependencies,
  read: ReadFile,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const { artifacts } = dependencies;
  if (artifacts === null || read.job.terms.storage !== 'raw') {
    yield* source;
    return;
  }
  const { shard, attempt } = read.attempt;
  const key = artifactKey(read.job.jobId, { shard, attempt, file: read.fileNo });
  const copy = new ArtifactCopy(artifacts, key);
  try {
    for await (const bytes of source) {
      await copy.write(bytes);
      yield bytes;
    }
    await note(dependencies, read, key, await copy.end());
  } finally {
    // Nothing where it has ended; of a file that broke off no part is kept.
    copy.abort();
  }
}

async function note(
  { db, artifacts, now, log }: Dependencies,
  { job, attempt, file, fileNo }: ReadFile,
  key: string,
  facts: ArtifactFacts | null,
): Promise<void> {
  const place = { shard: attempt.shard, attempt: attempt.attempt, file: fileNo };
  if (facts === null) log.warn({ jobId: job.jobId, ...place }, 'a result file was not kept as an artifact');
  const isKept = await recordArtifact(db, job.key, { ...place, kind: file.kind, key, facts }, now());
  // Where this fails, the removal that was noted does it.
  if (!isKept && facts !== null) await artifacts?.delete(key).catch(() => undefined);
}

/** A copy on its way into the store. What fails of it fails here alone. */
class ArtifactCopy {
  readonly #zstd = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  readonly #hash = createHash('sha256');
  readonly #abort = new AbortController();
  readonly #stored: Promise<number | null>;
  #bytes = 0;
  #hasFailed = false;

  constructor(store: ArtifactStore, key: string) {
    // Told of by the store, which reads it.
    this.#zstd.on('error', () => undefined);
    this.#stored = store.put(key, this.#zstd, this.#abort.signal).then(
      ({ bytes }) => bytes,
      () => {
        this.abort();
        return null;
      },
    );
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#hasFailed) return;
    this.#bytes += bytes.length;
    this.#hash.update(bytes);
    if (this.#zstd.write(bytes)) return;
    await this.#inTime(once(this.#zstd, 'drain').catch(() => undefined));
  }

  /** Null where it is not stored. */
  async end(): Promise<ArtifactFacts | null> {
    if (!this.#hasFailed) this.#zstd.end();
    await this.#inTime(this.#stored);
    const storedBytes = this.#hasFailed ? null : await this.#stored;
    return storedBytes === null ? null : { bytes: this.#bytes, storedBytes, sha256: this.#hash.digest() };
  }

  abort(): void {
    this.#hasFailed = true;
    this.#abort.abort();
    this.#zstd.destroy();
  }

  async #inTime(progress: Promise<unknown>): Promise<void> {
    const timer = new AbortController();
    const stall = delay(STALL_MS, 'stalled', { signal: timer.signal }).catch(() => undefined);
    try {
      if ((await Promise.race([progress, this.#stored, stall])) === 'stalled') this.abort();
    } finally {
      timer.abort();
    }
  }
}
