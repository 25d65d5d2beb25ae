import type pg from 'pg';
import { GATEWAY_CREDENTIAL } from '../domain/gateway-credential.ts';
import type { Provider } from '../domain/provider.ts';
import { newId } from './ids.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Whose a credential is: a project's, a tenant's, or, where both are null, the gateway's. */
export interface CredentialOwner {
  readonly tenantId: string | null;
  readonly projectId: string | null;
}

/** A credential as its admins see it: never the key, sealed or not. */
export interface ProviderCredentialRow extends CredentialOwner {
  readonly credentialId: string;
  readonly provider: Provider;
  readonly name: string;
  /** The end of the key, by which a person recognises it. */
  readonly keyHint: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly replacedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** A key as it lies in the database, and what tells whether it is the same as before. */
export interface SealedKey {
  readonly provider: Provider;
  readonly version: number;
  /** Null where it was revoked. */
  readonly sealed: Buffer | null;
}

/** A sealed key, with the part that may be shown. */
export interface NewSealedKey {
  readonly sealed: Buffer;
  readonly hint: string;
}

/** Times of last use are kept this coarse, so that asking for a key does not write each time. */
const LAST_USED_STEP_MS = 60_000;

const SELECT_CREDENTIAL = `
  SELECT credential_id AS "credentialId", provider, tenant_id AS "tenantId", project_id AS "projectId", name,
    key_hint AS "keyHint", created_by AS "createdBy", created_at AS "createdAt",
    replaced_at AS "replacedAt", revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"
  FROM provider_credentials`;

/** What a key is sealed for: it opens for no other row. */
export function credentialContext(credentialId: string): string {
  return `provider_credentials/${credentialId}`;
}

/** A key is sealed for its id, so the id is there before the row. */
export function newCredentialId(): string {
  return newId('credential');
}

/** Sealed already. One that is there under the same id is a fault. */
export async function insertCredential(
  client: Queryable,
  credential: CredentialOwner & {
    readonly credentialId: string;
    readonly provider: Provider;
    readonly name: string;
    readonly key: NewSealedKey;
    readonly createdBy: string;
  },
): Promise<void> {
  const { credentialId, provider, tenantId, projectId, name, key, createdBy } = credential;
  await client.query(
    `INSERT INTO provider_credentials
       (credential_id, provider, tenant_id, project_id, name, sealed_key, key_hint, created_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [credentialId, provider, tenantId, projectId, name, key.sealed, key.hint, createdBy],
  );
}

/** Those of a tenant and its projects, or the gateway's own where it is null; the oldest first, after an id. */
export async function listCredentials(
  db: Queryable,
  tenantId: string | null,
  page: { readonly after: string | null; readonly limit: number },
): Promise<ProviderCredentialRow[]> {
  const { rows } = await db.query<ProviderCredentialRow>(
    `${SELECT_CREDENTIAL} WHERE tenant_id IS NOT DISTINCT FROM $1 AND ($2::text IS NULL OR credential_id > $2)
     ORDER BY credential_id LIMIT $3`,
    [tenantId, page.after, page.limit],
  );
  return rows;
}

/** Null for one that is not the tenant's, or, where that is null, not the gateway's own. */
export async function findCredential(
  db: Queryable,
  { tenantId, credentialId }: OwnedCredential,
): Promise<ProviderCredentialRow | null> {
  const { rows } = await db.query<ProviderCredentialRow>(`${SELECT_CREDENTIAL} WHERE ${IS_OWNED}`, [
    tenantId,
    credentialId,
  ]);
  return rows[0] ?? null;
}

export interface OwnedCredential {
  readonly tenantId: string | null;
  readonly credentialId: string;
}

const IS_OWNED = 'tenant_id IS NOT DISTINCT FROM $1 AND credential_id = $2';

/** Another key under the same id, also where it was revoked. False for one that is not the owner's. */
export async function replaceKey(
  client: Queryable,
  { tenantId, credentialId }: OwnedCredential,
  key: NewSealedKey,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE provider_credentials SET sealed_key = $3, key_hint = $4, replaced_at = $5, revoked_at = NULL,
       version = version + 1 WHERE ${IS_OWNED}`,
    [tenantId, credentialId, key.sealed, key.hint, at],
  );
  return rowCount === 1;
}

/** Forgets the key. False where it was revoked before, or is not the owner's. */
export async function revokeCredential(
  client: Queryable,
  { tenantId, credentialId }: OwnedCredential,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE provider_credentials SET sealed_key = NULL, revoked_at = $3, version = version + 1
     WHERE ${IS_OWNED} AND revoked_at IS NULL`,
    [tenantId, credentialId, at],
  );
  return rowCount === 1;
}

/** Null for an id that no credential has. Notes the use, at most once a minute. */
export async function readSealedKey(db: Queryable, credentialId: string, at: Date): Promise<SealedKey | null> {
  const { rows } = await db.query<SealedKey & { lastUsedAt: Date | null }>(
    `SELECT provider, version, sealed_key AS sealed, last_used_at AS "lastUsedAt"
     FROM provider_credentials WHERE credential_id = $1`,
    [credentialId],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const { lastUsedAt, ...key } = row;
  const before = new Date(at.getTime() - LAST_USED_STEP_MS);
  if (key.sealed !== null && (lastUsedAt === null || lastUsedAt <= before)) {
    await db.query(
      `UPDATE provider_credentials SET last_used_at = $2
       WHERE credential_id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)`,
      [credentialId, at, before],
    );
  }
  return key;
}

/**
 * With which credential a new batch is sent: the project's, else the tenant's, else the gateway's stored one, the newest
 * of several, else the key of the environment.
 */
export async function chooseCredential(
  db: Queryable,
  { tenantId, projectId }: CredentialOwner,
  provider: Provider,
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT credential_id AS id FROM provider_credentials
     WHERE provider = $1 AND revoked_at IS NULL AND (tenant_id IS NULL OR tenant_id = $2)
       AND (project_id IS NULL OR project_id = $3)
     ORDER BY project_id NULLS LAST, tenant_id NULLS LAST, credential_id DESC LIMIT 1`,
    [provider, tenantId, projectId],
  );
  return rows[0]?.id ?? GATEWAY_CREDENTIAL;
}
