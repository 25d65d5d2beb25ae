import { hash } from 'node:crypto';
import { documentFiles } from '../../artifacts/document-files.ts';
import { ArtifactStoreError } from '../../artifacts/store.ts';
import type { RunDocument } from '../../db/run-documents.ts';
import { decodeText } from '../../documents/decode-text.ts';
import type { CapabilityRow } from '../../domain/capability-row.ts';
import type { DocumentColumn } from '../../domain/document.ts';
import type { DocumentErrorCode } from '../../domain/document-error.ts';
import { type DocumentContent, documentForm, extractionRequest, takesSchema } from '../../domain/extraction-request.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { SealError, UnknownSealingKey } from '../../encryption/cipher.ts';
import type { ActivityDependencies } from '../dependencies.ts';

export type BuiltRequest =
  | { readonly kind: 'request'; readonly request: JsonObject }
  /** There is no request to be made of it. */
  | { readonly kind: 'unreadable'; readonly code: DocumentErrorCode };

export interface DocumentToBuild {
  readonly document: RunDocument;
  readonly columns: readonly DocumentColumn[];
  readonly capability: Pick<CapabilityRow, 'refuses'>;
  readonly maxOutputTokens: number;
  readonly signal: AbortSignal;
}

/** A request is so many times as large as its file, in all the forms in which it is in memory on its way. */
const COPIES = 5;

/** What building and sending the request of a document takes of a ByteBudget. */
export function weightOf({ bytes }: Pick<RunDocument, 'bytes'>): number {
  return bytes * COPIES;
}

/** Makes the request of a document from its file. Throws ArtifactStoreError `unavailable` where the store is away. */
export async function buildRequest(
  dependencies: Pick<ActivityDependencies, 'artifacts' | 'cipher' | 'pdfTexts'>,
  { document, columns, capability, maxOutputTokens, signal }: DocumentToBuild,
): Promise<BuiltRequest> {
  const form = documentForm(document.mediaType, capability);
  if (form === 'text_unreadable') return unreadable(form);
  if (document.artifactKey === null) return unreadable('content_deleted');
  const bytes = await readFile(dependencies, document, document.artifactKey, signal);
  if (bytes === null) return unreadable('file_unavailable');
  const content = await contentOf(dependencies, document, form, bytes);
  if (content === null) return unreadable('text_unreadable');
  const isSchemaTaken = takesSchema(capability);
  return { kind: 'request', request: extractionRequest({ columns, content, isSchemaTaken, maxOutputTokens }) };
}

function unreadable(code: DocumentErrorCode): BuiltRequest {
  return { kind: 'unreadable', code };
}

/**
 * Null where it is not there, or not as it was uploaded. Throws ArtifactStoreError `unavailable` also where it is sealed by a key
 * that this gateway lacks for now.
 */
async function readFile(
  { artifacts, cipher }: Pick<ActivityDependencies, 'artifacts' | 'cipher'>,
  { storage, sha256 }: RunDocument,
  key: string,
  signal: AbortSignal,
): Promise<Buffer | null> {
  if (artifacts === null) throw new ArtifactStoreError('unavailable', 'there is no artifact store');
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await documentFiles(artifacts, cipher, storage).get(key, signal)) chunks.push(chunk);
    const file = Buffer.concat(chunks);
    return hash('sha256', file, 'buffer').equals(sha256) ? file : null;
  } catch (error) {
    if (error instanceof UnknownSealingKey)
      throw new ArtifactStoreError('unavailable', 'a file is sealed by a key that is not configured', { cause: error });
    if (error instanceof SealError || (error instanceof ArtifactStoreError && error.fault === 'missing')) return null;
    throw error;
  }
}

async function contentOf(
  { pdfTexts }: Pick<ActivityDependencies, 'pdfTexts'>,
  { mediaType }: RunDocument,
  form: DocumentContent['form'],
  bytes: Buffer,
): Promise<DocumentContent | null> {
  switch (mediaType) {
    case 'application/pdf': {
      if (form === 'file') return { form, mediaType, base64: bytes.toString('base64') };
      const text = await pdfTexts.read(bytes);
      return text === null ? null : { form: 'text', text };
    }
    case 'image/png':
    case 'image/jpeg':
    case 'image/webp':
      return { form: 'image', mediaType, base64: bytes.toString('base64') };
    case 'text/csv':
    case 'text/plain': {
      const text = decodeText(bytes);
      return text === null ? null : { form: 'text', text };
    }
  }
}
