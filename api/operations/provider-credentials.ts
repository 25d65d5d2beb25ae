import { isStorable } from '../../contracts/metadata.ts';
import type {
  NewTenantCredential,
  ProviderCredential,
  ProviderCredentialList,
} from '../../contracts/provider-credential.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { toUuid } from '../../db/ids.ts';
import { findProject } from '../../db/projects.ts';
import {
  credentialContext,
  findCredential,
  insertCredential,
  listCredentials,
  type NewSealedKey,
  newCredentialId,
  type OwnedCredential,
  replaceKey,
  revokeCredential,
} from '../../db/provider-credentials.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { CursorId, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentCredential } from '../presentation/provider-credential.ts';
import { requireProvider } from './known-provider.ts';
import { requireTenant } from './known-tenant.ts';
import { type KeptAnswer, once } from './once.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'catalogue' | 'cipher' | 'now'>;

const LIST = 'credentials';
/** As providers show their keys; of a short key the end would be too much of it. */
const HINT_LENGTH = 4;
const MIN_LENGTH_FOR_HINT = 16;

export interface AddCredentialRequest {
  readonly principal: Principal;
  /** Null for one of the gateway's own. */
  readonly tenantId: string | null;
  readonly credential: NewTenantCredential;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Keeps a provider's key for the batches that are made from now on. Throws `not_found` for an unknown tenant or project,
 * `invalid_request` for a provider the gateway does not have, `encryption_not_configured`.
 */
export async function addCredential(
  dependencies: Dependencies,
  { principal, tenantId, credential, idempotency }: AddCredentialRequest,
): Promise<KeptAnswer> {
  const { db, catalogue } = dependencies;
  const { provider, name, project_id: projectId = null, api_key: apiKey } = credential;
  await requireOwner(dependencies, tenantId, projectId);
  requireProvider(catalogue, provider, 'provider');
  const credentialId = newCredentialId();
  const key = await sealKey(dependencies, credentialId, apiKey);
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const createdBy = principal.keyId;
      await insertCredential(client, { credentialId, provider, tenantId, projectId, name, key, createdBy });
      const details = { provider, project_id: projectId };
      const audited = { actor: createdBy, tenantId, subject: credentialId, details };
      await recordAudit(client, { act: 'credential.created', ...audited });
      return { status: 201, body: JSON.stringify(await show(client, { tenantId, credentialId })) };
    }),
  );
}

/** A tenant's with those of its projects, or, for null, the gateway's own; the oldest first. Throws `not_found`. */
export async function listProviderCredentials(
  dependencies: Pick<Dependencies, 'db'>,
  {
    tenantId,
    cursor,
    limit,
  }: { readonly tenantId: string | null; readonly cursor?: string | undefined; readonly limit: number },
): Promise<ProviderCredentialList> {
  await requireOwner(dependencies, tenantId, null);
  const [after = null] = decodeCursor(LIST, [CursorId], cursor) ?? [];
  const credentials = await listCredentials(dependencies.db.pool, tenantId, { after, limit: limit + 1 });
  const page = credentials.slice(0, limit);
  const last = credentials.length > limit ? page.at(-1) : undefined;
  const nextCursor = last === undefined ? null : encodeCursor(LIST, [last.credentialId]);
  return { data: page.map(presentCredential), next_cursor: nextCursor };
}

/** Throws `not_found`, also for one of somebody else. */
export async function getCredential(
  dependencies: Pick<Dependencies, 'db'>,
  id: OwnedCredential,
): Promise<ProviderCredential> {
  await requireCredentialId(dependencies, id);
  return show(dependencies.db.pool, id);
}

export interface ChangeCredentialRequest {
  readonly principal: Principal;
  readonly id: OwnedCredential;
}

/**
 * Another key under the same id: batches that run go on with it, and so must it be of the same account. One that was
 * revoked is in use again. Throws `not_found`, `encryption_not_configured`.
 */
export async function replaceCredential(
  dependencies: Dependencies,
  {
    principal,
    id,
    apiKey,
    idempotency,
  }: ChangeCredentialRequest & { readonly apiKey: string; readonly idempotency: IdempotentRequest | null },
): Promise<KeptAnswer> {
  const { db, now } = dependencies;
  await requireCredentialId(dependencies, id);
  const key = await sealKey(dependencies, id.credentialId, apiKey);
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      if (!(await replaceKey(client, id, key, now()))) throw noSuchCredential();
      await recordAudit(client, { act: 'credential.replaced', ...actOf(principal, id) });
      return { status: 200, body: JSON.stringify(await show(client, id)) };
    }),
  );
}

/** Forgets the key. One that was revoked before is answered as it is. Throws `not_found`. */
export async function revokeProviderCredential(
  dependencies: Dependencies,
  { principal, id }: ChangeCredentialRequest,
): Promise<ProviderCredential> {
  const { db, now } = dependencies;
  await requireCredentialId(dependencies, id);
  return inTransaction(db, async (client) => {
    if (await revokeCredential(client, id, now()))
      await recordAudit(client, { act: 'credential.revoked', ...actOf(principal, id) });
    return show(client, id);
  });
}

function actOf({ keyId }: Principal, { tenantId, credentialId }: OwnedCredential) {
  return { actor: keyId, tenantId, subject: credentialId };
}

async function show(db: Parameters<typeof findCredential>[0], id: OwnedCredential): Promise<ProviderCredential> {
  const credential = await findCredential(db, id);
  if (credential === null) throw noSuchCredential();
  return presentCredential(credential);
}

async function sealKey({ cipher }: Dependencies, credentialId: string, apiKey: string): Promise<NewSealedKey> {
  const sealed = await cipher.seal(Buffer.from(apiKey), credentialContext(credentialId));
  return { sealed, hint: `…${apiKey.length < MIN_LENGTH_FOR_HINT ? '' : apiKey.slice(-HINT_LENGTH)}` };
}

async function requireOwner(
  dependencies: Pick<Dependencies, 'db'>,
  tenantId: string | null,
  projectId: string | null,
): Promise<void> {
  if (tenantId === null) return;
  await requireTenant(dependencies, tenantId);
  if (projectId === null) return;
  if (isStorable(projectId) && (await findProject(dependencies.db.pool, tenantId, projectId)) !== null) return;
  throw new GatewayError('not_found', `The tenant has no project "${projectId}".`, { field: 'project_id' });
}

async function requireCredentialId(
  dependencies: Pick<Dependencies, 'db'>,
  { tenantId, credentialId }: OwnedCredential,
): Promise<void> {
  await requireOwner(dependencies, tenantId, null);
  if (toUuid('credential', credentialId) === null) throw noSuchCredential();
}

function noSuchCredential(): GatewayError {
  return new GatewayError('not_found', 'No such credential.');
}
