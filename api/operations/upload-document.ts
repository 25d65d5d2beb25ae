import { createHash } from 'node:crypto';
import type pg from 'pg';
import { documentFiles } from '../../artifacts/document-files.ts';
import { type ArtifactStore, ArtifactStoreError } from '../../artifacts/store.ts';
import { requireActiveAccount } from '../../db/account-standing.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { lockOrInsertBatch } from '../../db/document-batches.ts';
import { endUpload, insertUpload, uploadArtifactKey } from '../../db/document-uploads.ts';
import { findDocumentView } from '../../db/document-view.ts';
import { fileNameContext, findTwin, insertDocument, type NewDocument } from '../../db/documents.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import type { JobScope } from '../../db/job-scope.ts';
import { readTenantTerms } from '../../db/storage-terms.ts';
import { requireCaps } from '../../db/tenant-caps.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DocumentFacts } from '../../domain/document-facts.ts';
import { documentRefusal } from '../../domain/document-refusal.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { keepsContent, type StorageTerms } from '../../domain/storage-terms.ts';
import { NO_GROWTH } from '../../domain/tenant-caps.ts';
import type { Cipher } from '../../encryption/cipher.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentDocument } from '../presentation/document.ts';
import { type DocumentBody, type ReceivedDocument, receiveDocument } from '../uploads/receive-document.ts';
import { requireJobOwner } from './job-ownership.ts';
import { type KeptAnswer, once } from './once.ts';
import { tenantScope } from './owned-job.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'cipher' | 'artifacts' | 'intake' | 'documents'>;

/** For the batch, which a run of many documents may hold for some seconds. */
const LOCK_TIMEOUT_MS = 5_000;
/** A store that takes no file by then has nobody waiting for it any more. */
const STORE_MS = 120_000;

export interface DocumentUploadRequest {
  readonly principal: Principal;
  readonly body: DocumentBody;
  readonly idempotency: Omit<IdempotentRequest, 'contentHash' | 'now'> | undefined;
}

/**
 * Receives a file, looks what it is, puts it into the artifact store and then stores its row: the document is there as a whole
 * or not at all. Its batch comes into being with it. Throws what `receiveDocument` does, `document_…` for a file that is
 * none, `tenant_suspended`, `quota_exceeded`, `conflict` for a name of another project, `job_busy`, `dependency_unavailable` where there is no
 * store or it is away.
 */
export async function uploadDocument(
  dependencies: Dependencies,
  { principal, body, idempotency }: DocumentUploadRequest,
): Promise<KeptAnswer> {
  const { db, artifacts, intake, documents } = dependencies;
  const scope = tenantScope(principal);
  const store = requireStore(artifacts);
  if (idempotency === undefined) await requireActiveAccount(db.pool, scope);
  const received = await receiveDocument(body, documents.limits, intake.spool);
  try {
    const file = { byteLength: received.bytes, read: () => received.read() };
    const recognition = await documents.recogniser.recognise(file, documents.limits);
    if (recognition.kind === 'fault') throw documentRefusal(recognition.fault, documents.limits);
    const request = { principal, received, facts: recognition.facts, idempotency };
    return await storeDocument(dependencies, store, request);
  } finally {
    await received.close();
  }
}

interface Recognised {
  readonly principal: Principal;
  readonly received: ReceivedDocument;
  readonly facts: DocumentFacts;
  readonly idempotency: DocumentUploadRequest['idempotency'];
}

async function storeDocument(
  dependencies: Dependencies,
  store: ArtifactStore,
  request: Recognised,
): Promise<KeptAnswer> {
  const { db, now, cipher } = dependencies;
  const { received, principal } = request;
  const { tenantId } = tenantScope(principal);
  const uploadId = newId('documentUpload');
  const terms = await readTenantTerms(db.pool, tenantId);
  const files = documentFiles(store, cipher, terms.storage);
  await insertUpload(db.pool, { uploadId, tenantId }, now());
  let isStored = false;
  try {
    await put(files, uploadArtifactKey(uploadId), received);
    const answer = await inTransaction(
      db,
      (client) => insertRows(dependencies, client, { ...request, uploadId, terms }),
      { lockTimeoutMs: LOCK_TIMEOUT_MS },
    );
    isStored = !answer.replayed;
    return { ...answer, body: JSON.stringify({ ...JSON.parse(answer.body), file_name: received.fileName }) };
  } finally {
    // Where this fails, the sweep does it.
    if (!isStored) await takeBack(dependencies, store, uploadId).catch(() => undefined);
  }
}

async function insertRows(
  { db: _, now, cipher }: Dependencies,
  client: pg.PoolClient,
  request: Recognised & { readonly uploadId: string; readonly terms: StorageTerms },
): Promise<KeptAnswer> {
  const { principal, received, facts, idempotency, uploadId, terms } = request;
  const { batchName, fileName, bytes, sha256 } = received;
  const kept = idempotency === undefined ? null : { ...idempotency, contentHash: contentHash(received), now: now() };
  return once(client, kept, async () => {
    const { owner } = await requireJobOwner(client, principal, { customer_id: received.customerId });
    const batch = await lockOrInsertBatch(client, owner, { name: batchName, createdAt: now() });
    if (batch === null) throw nameTaken();
    // Not before: a slow upload would come to stand among documents that are on a page already.
    const documentId = newId('doc');
    const document: NewDocument = {
      ...{ documentId, batchId: batch.batchId, apiKeyId: principal.keyId, facts, bytes, sha256, createdAt: now() },
      artifactKey: uploadArtifactKey(uploadId),
      ...(await fileNameAsKept(cipher, { documentId, fileName, terms })),
      owner: { ...owner, projectId: owner.projectId ?? batch.projectId },
      storage: terms.storage,
      contentKeptMs: keptMs(terms),
    };
    await insertDocument(client, { ...document, duplicateOf: await findTwin(client, batch.batchId, sha256) });
    if (!(await endUpload(client, uploadId))) throw tooSlow();
    await recordAudit(client, {
      act: 'document.uploaded',
      actor: principal.keyId,
      tenantId: owner.tenantId,
      subject: documentId,
      details: { batch_id: batch.batchId, media_type: facts.mediaType, bytes },
    });
    const view = await findDocumentView(client, asOwner(owner), documentId);
    if (view === null) throw new Error('a document that was just stored is not there');
    await requireCaps(client, owner.tenantId, { ...NO_GROWTH, storedBytes: bytes });
    // Idempotency keys hold no content: the name is that of the call that is answered.
    return { status: 201, body: JSON.stringify({ ...(await presentDocument(view, cipher)), file_name: null }) };
  });
}

/** In clear only where the storage policy keeps content in clear. */
async function fileNameAsKept(
  cipher: Cipher,
  {
    documentId,
    fileName,
    terms,
  }: { readonly documentId: string; readonly fileName: string | null; readonly terms: StorageTerms },
): Promise<Pick<NewDocument, 'fileName' | 'sealedFileName'>> {
  if (fileName === null || keepsContent(terms.storage)) return { fileName, sealedFileName: null };
  return { fileName: null, sealedFileName: await cipher.seal(Buffer.from(fileName), fileNameContext(documentId)) };
}

function asOwner({ tenantId, customerId }: JobScope): JobScope {
  return { tenantId, projectId: null, customerId };
}

/** Where no content is kept, a document still is until its results could be read. */
function keptMs({ storage, readWindowMs, contentRetentionMs }: StorageTerms): number | null {
  if (keepsContent(storage)) return contentRetentionMs;
  return contentRetentionMs === null ? readWindowMs : Math.min(readWindowMs, contentRetentionMs);
}

function contentHash({ batchName, customerId, fileName, sha256 }: ReceivedDocument): Uint8Array {
  const content = JSON.stringify([batchName, customerId ?? null, fileName, sha256.toString('hex')]);
  return createHash('sha256').update(content).digest();
}

async function put(files: ArtifactStore, key: string, received: ReceivedDocument): Promise<void> {
  try {
    await files.put(key, received.read(), AbortSignal.timeout(STORE_MS));
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (error instanceof ArtifactStoreError || (error instanceof Error && error.name === 'TimeoutError'))
      throw away(error);
    throw error;
  }
}

/** Only while its note is there: a COMMIT that nobody answered may have made a document of it, whose file stays. */
async function takeBack({ db }: Dependencies, store: ArtifactStore, uploadId: string): Promise<void> {
  await inTransaction(db, async (client) => {
    if (await endUpload(client, uploadId)) await store.delete(uploadArtifactKey(uploadId));
  });
}

function requireStore(artifacts: ArtifactStore | null): ArtifactStore {
  if (artifacts !== null) return artifacts;
  const message =
    'This gateway keeps no files: its operator has set no artifact store (BATCHGATE_ARTIFACT_STORE), which documents need.';
  throw new GatewayError('dependency_unavailable', message);
}

function away(cause: unknown): GatewayError {
  const message = 'The artifact store does not answer. Nothing was stored; try again.';
  return new GatewayError('dependency_unavailable', message, { cause, retryAfterSeconds: 5 });
}

function tooSlow(): GatewayError {
  const message = 'Storing the file took too long, and nothing was stored. Send it again.';
  return new GatewayError('dependency_unavailable', message, { retryAfterSeconds: 5 });
}

function nameTaken(): GatewayError {
  const message = 'batch_name: a batch of this name is in use by another project of the account. Choose another name.';
  return new GatewayError('conflict', message, { field: 'batch_name' });
}
