import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFolderStore } from '../../../artifacts/folder-store.ts';
import type { ArtifactStore } from '../../../artifacts/store.ts';
import type { Database } from '../../../db/client.ts';
import { toUuid } from '../../../db/ids.ts';
import type { Answer, ApiCaller } from '../../harness/api.ts';

/** A part of a form: a text, or a file with a name. */
export type Part =
  | readonly [name: string, value: string]
  | readonly [name: string, content: Uint8Array, fileName: string];

/** multipart/form-data with the parts in their order. */
export async function formOf(parts: readonly Part[]): Promise<{ body: Uint8Array; headers: Record<string, string> }> {
  const form = new FormData();
  for (const [name, value, fileName] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)]), fileName);
  }
  const request = new Response(form);
  const type = request.headers.get('content-type') ?? '';
  return { body: new Uint8Array(await request.arrayBuffer()), headers: { 'content-type': type } };
}

export async function uploadParts(
  caller: ApiCaller,
  parts: readonly Part[],
  headers: Record<string, string> = {},
): Promise<Answer> {
  const form = await formOf(parts);
  return caller.call('POST', '/v1/documents', { body: form.body, headers: { ...form.headers, ...headers } });
}

/** Uploads a file into a batch. */
export function upload(
  caller: ApiCaller,
  batchName: string,
  content: Uint8Array | string = 'Invoice 1, total 5',
  fileName = 'a.txt',
): Promise<Answer> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return uploadParts(caller, [
    ['file', bytes, fileName],
    ['batch_name', batchName],
  ]);
}

/** The key of a document's file in the store; it is not named for the document. */
export async function fileOf(db: Database, documentId: string): Promise<string> {
  const { rows } = await db.pool.query('SELECT artifact_key AS key FROM documents WHERE document_id = $1', [
    toUuid('doc', documentId),
  ]);
  return rows[0].key;
}

export interface TestFolder {
  readonly store: ArtifactStore;
  remove(): void;
}

export function createTestFolder(): TestFolder {
  const folder = mkdtempSync(path.join(tmpdir(), 'batchgate-documents-'));
  return { store: createFolderStore(folder), remove: () => rmSync(folder, { recursive: true }) };
}
