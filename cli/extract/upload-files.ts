import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Document, DocumentBatch } from '../../contracts/document.ts';
import type { Context } from '../command.ts';
import { CommandError, inputError } from '../errors.ts';
import type { TenantCalls } from '../gateway.ts';
import { whenThereIsRoom } from './patience.ts';

/** A file of the command line. */
export interface InputFile {
  readonly path: string;
  /** What it is called in the batch. */
  readonly name: string;
}

/** A file that the gateway does not take, and why. */
export interface RefusedFile {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

export interface Uploads {
  readonly uploaded: number;
  /** In the batch already, by name and content. */
  readonly present: number;
  readonly refused: readonly RefusedFile[];
}

interface Uploading {
  readonly calls: Pick<TenantCalls, 'uploadDocument' | 'listDocuments' | 'getBatch'>;
  readonly batchName: string;
  readonly signal: AbortSignal;
  /** Told after each file, of how many are done. */
  readonly onProgress: (done: number) => void;
}

/** Of a tenant's places for uploads, so that its other callers have some. */
const AT_ONCE = 4;
const PAGE = 1_000;

/** Throws a usage error for the first one that is not a file that can be read. */
export async function requireFiles(paths: readonly string[]): Promise<InputFile[]> {
  return Promise.all(
    paths.map(async (path) => {
      const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
        throw inputError(
          path,
          null,
          error.code === 'ENOENT' ? 'there is no such file' : `cannot be read (${error.code})`,
        );
      });
      if (!found.isFile()) throw inputError(path, null, 'is not a file; name files, such as invoices/*.pdf');
      return { path, name: basename(path) };
    }),
  );
}

/**
 * Uploads files into a batch, a few at once, but for those that a run of this command that broke off has brought there already.
 * What the gateway says of a single file is told; every other refusal is thrown, and so is INTERRUPTED.
 */
export async function uploadFiles(
  files: readonly InputFile[],
  uploading: Uploading,
  context: Pick<Context, 'sleep'>,
): Promise<Uploads> {
  const { onProgress } = uploading;
  const there = await listPresent(uploading, context);
  const refused: RefusedFile[] = [];
  const sums = { uploaded: 0, present: 0 };
  const rest = files.values();
  let failure: unknown;
  const lane = async () => {
    for (const file of rest) {
      if (failure !== undefined) return;
      const isThere = there.size > 0 && takeOne(there, keyOf(file.name, await sha256Of(file.path)));
      if (isThere) sums.present += 1;
      else {
        const refusal = await uploadOne(file, uploading, context);
        if (refusal === null) sums.uploaded += 1;
        else refused.push(refusal);
      }
      onProgress(sums.uploaded + sums.present + refused.length);
    }
  };
  await Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      lane().catch((error: unknown) => {
        failure ??= error;
      }),
    ),
  );
  if (failure !== undefined) throw failure;
  return { ...sums, refused };
}

async function uploadOne(
  { path, name }: InputFile,
  { calls, batchName, signal }: Uploading,
  context: Pick<Context, 'sleep'>,
): Promise<RefusedFile | null> {
  const content = await openAsBlob(path);
  try {
    await whenThereIsRoom(() => calls.uploadDocument(batchName, { name, content }), signal, context);
    return null;
  } catch (error) {
    if (!(error instanceof CommandError) || !isOfTheFile(error)) throw error;
    return { path, code: error.facts.error, message: error.facts.message };
  }
}

function isOfTheFile({ facts: { error, field } }: CommandError): boolean {
  return (
    error.startsWith('document_') || (error === 'invalid_request' && (field === 'file' || field === 'file.filename'))
  );
}

/** How many documents of each name and content the batch has, if there is one that takes uploads. */
async function listPresent(
  { calls, batchName, signal }: Uploading,
  context: Pick<Context, 'sleep'>,
): Promise<Map<string, number>> {
  const there = new Map<string, number>();
  const batch = await whenThereIsRoom(() => findBatch(calls, batchName), signal, context);
  if (batch === null || batch.deleted_at !== null) return there;
  for (let cursor: string | undefined; ; ) {
    const query = { batch_name: batchName, limit: PAGE, cursor };
    const { data, next_cursor: next } = await whenThereIsRoom(() => calls.listDocuments(query), signal, context);
    for (const document of data) addOne(there, document);
    if (next === null) return there;
    cursor = next;
  }
}

function addOne(there: Map<string, number>, { file_name: name, sha256 }: Document): void {
  if (name === null) return;
  const key = keyOf(name, sha256);
  there.set(key, (there.get(key) ?? 0) + 1);
}

/** The same file named twice is wanted twice. */
function takeOne(there: Map<string, number>, key: string): boolean {
  const left = there.get(key) ?? 0;
  if (left > 0) there.set(key, left - 1);
  return left > 0;
}

/** In a form `"` and `%22` are written alike. */
function keyOf(name: string, sha256: string): string {
  return `${sha256} ${name.replaceAll('%22', '"')}`;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** Null for a name that means none. */
async function findBatch(calls: Pick<TenantCalls, 'getBatch'>, batchName: string): Promise<DocumentBatch | null> {
  try {
    return await calls.getBatch(batchName);
  } catch (error) {
    if (error instanceof CommandError && error.facts.error === 'not_found') return null;
    throw error;
  }
}
