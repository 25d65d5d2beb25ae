import type pg from 'pg';
import type { DocumentFacts } from '../domain/document-facts.ts';
import type { StoragePolicy } from '../domain/tenant-policy.ts';
import { toUuid } from './ids.ts';
import type { JobScope } from './job-scope.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** What the name of a document's file is sealed for. */
export function fileNameContext(documentId: string): string {
  return `documents/${toUuid('doc', documentId)}`;
}

/** A file that is stored, on its way to be a document. */
export interface NewDocument {
  /** Made with its batch locked, so that the documents of a batch are in the order in which they are seen. */
  readonly documentId: string;
  readonly owner: JobScope;
  readonly batchId: string;
  readonly apiKeyId: string;
  /** Null where it has none, or has one that is sealed. */
  readonly fileName: string | null;
  /** For `fileNameContext`, where the storage policy keeps no content in clear. */
  readonly sealedFileName: Buffer | null;
  readonly facts: DocumentFacts;
  readonly artifactKey: string;
  readonly bytes: number;
  readonly sha256: Buffer;
  readonly storage: StoragePolicy;
  /** How long its content is kept after its end; null for ever. */
  readonly contentKeptMs: number | null;
  readonly createdAt: Date;
}

/** Of the earliest document of the batch with the same bytes; null where there is none. The batch must be locked. */
export async function findTwin(client: Queryable, batchId: string, sha256: Buffer): Promise<string | null> {
  const { rows } = await client.query<{ uuid: string }>(
    'SELECT document_id AS uuid FROM documents WHERE batch_id = $1 AND sha256 = $2 ORDER BY document_id LIMIT 1',
    [batchId, sha256],
  );
  return rows[0]?.uuid ?? null;
}

/** A queued document. Its batch must be locked. */
export async function insertDocument(
  client: Queryable,
  document: NewDocument & { readonly duplicateOf: string | null },
): Promise<void> {
  const { documentId, owner, facts } = document;
  await client.query(
    `INSERT INTO documents (document_id, tenant_id, project_id, customer_id, batch_id, api_key_id, file_name, media_type, bytes, sha256,
       pages, text_tokens, width, height, artifact_key, duplicate_of, state, storage, content_kept_ms, created_at, sealed_file_name)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 'queued', $17, $18, $19, $20)`,
    [
      ...[
        toUuid('doc', documentId),
        owner.tenantId,
        owner.projectId,
        owner.customerId,
        document.batchId,
        document.apiKeyId,
      ],
      ...[document.fileName, facts.mediaType, document.bytes, document.sha256],
      ...[facts.pages, facts.textTokens, facts.width, facts.height, document.artifactKey],
      ...[document.duplicateOf, document.storage, document.contentKeptMs, document.createdAt],
      document.sealedFileName,
    ],
  );
}

/** SQL, for a document as d: when its content is to be deleted where it ends at `$at`. */
export function contentDueSql(at: string): string {
  return `${at}::timestamptz + d.content_kept_ms * interval '1 millisecond'`;
}
