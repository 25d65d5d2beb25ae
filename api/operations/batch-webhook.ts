import type pg from 'pg';
import { BatchName, type BatchWebhook, type BatchWebhookSet } from '../../contracts/document.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { type BatchAddress, lockLiveBatch } from '../../db/document-batches.ts';
import {
  changeDocumentWebhook,
  type DocumentWebhookRow,
  deleteDocumentWebhook,
  deleteStrayWebhook,
  findDocumentWebhook,
  insertDocumentWebhook,
} from '../../db/document-webhooks.ts';
import { newId } from '../../db/ids.ts';
import { inTransaction } from '../../db/transaction.ts';
import { insertSecret } from '../../db/webhook-secrets.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentBatchWebhook } from '../presentation/document.ts';
import { requireJobOwner } from './job-ownership.ts';
import { type BatchRequest, batchAddress } from './owned-batch.ts';
import { tenantScope } from './owned-job.ts';
import { requirePublicUrl } from './public-url.ts';
import { makeSecret } from './webhook-secret.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'cipher' | 'allowedFetchHosts'>;

/** One look for each of those that may come between: another's first PUT, its DELETE, and the next PUT. */
const MAX_TRIES = 3;
const LOCK_TIMEOUT_MS = 5_000;

class OvertakenError extends Error {
  override readonly name = 'OvertakenError';
}

function noSuchWebhook(): GatewayError {
  return new GatewayError('not_found', 'The batch has no webhook.');
}

interface WebhookSet {
  readonly isNew: boolean;
  readonly webhook: BatchWebhookSet;
}

/**
 * Has the end of every run of the batches of a name told to a URL, whether there is one yet or not. The first time the answer
 * holds the secret; another URL takes the place of the one before and keeps it. Of several calls at once one is the first.
 * Throws `invalid_request` for a URL that is not public, `conflict` for a name that another project uses, for a batch or a webhook.
 */
export async function setBatchWebhook(
  dependencies: Dependencies,
  request: BatchRequest & { readonly url: string },
): Promise<WebhookSet> {
  requireName(request.batchName);
  const address = batchAddress(request, unknownCustomer);
  await requirePublicUrl(request.url, 'url', dependencies.allowedFetchHosts);
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    try {
      return await putWebhook(dependencies, request, address);
    } catch (error) {
      // What was there first is found the next time, unless it is another project's.
      if (!(error instanceof OvertakenError)) throw error;
    }
  }
  throw taken();
}

/** Throws OvertakenError, with nothing changed, where the name has one that was not seen. */
async function putWebhook(
  { db, now, cipher }: Dependencies,
  { principal, url }: BatchRequest & { readonly url: string },
  address: BatchAddress,
): Promise<WebhookSet> {
  const secretId = newId('webhookSecret');
  const { sealed, shown } = await makeSecret(cipher, secretId);
  const work = async (client: pg.PoolClient): Promise<WebhookSet> => {
    const { owner } = await requireJobOwner(client, principal, { customer_id: address.customerId });
    const audit = { act: 'document_webhook.set', actor: principal.keyId, tenantId: owner.tenantId } as const;
    const batch = await lockLiveBatch(client, owner.tenantId, address);
    if (batch !== null && owner.projectId !== null && batch.projectId !== owner.projectId) throw taken();
    const stray = batch === null ? null : await deleteStrayWebhook(client, batch);
    if (stray !== null) await recordAudit(client, { ...audit, act: 'document_webhook.removed', subject: stray });
    const found = await findDocumentWebhook(client, tenantScope(principal), address);
    if (found !== null && (await changeDocumentWebhook(client, found.webhookId, url))) {
      await recordAudit(client, { ...audit, subject: found.webhookId });
      return { isNew: false, webhook: { ...presentBatchWebhook({ ...found, url }), secret: null } };
    }
    const createdAt = now();
    const webhookId = newId('documentWebhook');
    await insertSecret(client, owner, { secretId, sealed, createdAt, endpointId: null, documentWebhookId: webhookId });
    const row: DocumentWebhookRow = { ...owner, ...address, webhookId, url, secretId, createdAt };
    if (!(await insertDocumentWebhook(client, row))) throw new OvertakenError();
    await recordAudit(client, { ...audit, subject: webhookId });
    return { isNew: true, webhook: { ...presentBatchWebhook(row), secret: shown } };
  };
  return inTransaction(db, work, { lockTimeoutMs: LOCK_TIMEOUT_MS });
}

/** Without its secret. Throws `not_found`. */
export async function getBatchWebhook({ db }: Pick<Dependencies, 'db'>, request: BatchRequest): Promise<BatchWebhook> {
  const found = await findDocumentWebhook(
    db.pool,
    tenantScope(request.principal),
    batchAddress(request, noSuchWebhook),
  );
  if (found === null) throw noSuchWebhook();
  return presentBatchWebhook(found);
}

/** What is on its way is still tried. Throws `not_found`. */
export async function removeBatchWebhook({ db }: Pick<Dependencies, 'db'>, request: BatchRequest): Promise<void> {
  await inTransaction(db, async (client) => {
    const address = batchAddress(request, noSuchWebhook);
    const found = await findDocumentWebhook(client, tenantScope(request.principal), address);
    if (found === null || !(await deleteDocumentWebhook(client, found.webhookId))) throw noSuchWebhook();
    const { tenantId, webhookId } = found;
    await recordAudit(client, {
      act: 'document_webhook.removed',
      actor: request.principal.keyId,
      tenantId,
      subject: webhookId,
    });
  });
}

/** One that an upload could have. */
function requireName(batchName: string): void {
  const checked = BatchName.safeParse(batchName);
  if (checked.success) return;
  const message = `batch_name: ${checked.error.issues[0]?.message ?? 'not a name'}.`;
  throw new GatewayError('invalid_request', message, { field: 'batch_name' });
}

function unknownCustomer(): GatewayError {
  return new GatewayError('not_found', 'There is no such customer_id that your key may use.', { field: 'customer_id' });
}

function taken(): GatewayError {
  const message = 'batch_name: the name is in use by another project of the account. Choose another name.';
  return new GatewayError('conflict', message, { field: 'batch_name' });
}
