import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../db/client.ts';
import { createCredentialStore } from '../../../db/credential-store.ts';
import {
  credentialContext,
  insertCredential,
  newCredentialId,
  replaceKey,
  revokeCredential,
} from '../../../db/provider-credentials.ts';
import { withoutCredential } from '../../../providers/missing-credential.ts';
import { createProviderAdapters } from '../../../providers/stored-credentials.ts';
import { TEST_CIPHER } from '../../harness/activities.ts';
import { FakeProvider, nativeBatch } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

/** A provider for each key, which notes the calls made with it. */
class Accounts {
  readonly calls: string[] = [];
  readonly #adapters = createProviderAdapters(
    [
      {
        provider: 'openai',
        apiKey: 'environment',
        make: (key) => this.#account(key),
        makeRefusing: (why) => withoutCredential(new FakeProvider(), why),
      },
    ],
    createCredentialStore(db.pool, TEST_CIPHER),
    // Every use looks at the row.
    () => (this.#clock += 10_000),
  );
  #clock = 0;

  get adapters() {
    return this.#adapters;
  }

  #account(key: string): FakeProvider {
    const account = new FakeProvider();
    account.onCreate = async () => {
      this.calls.push(`create ${key}`);
      return {};
    };
    account.retrieveBatch = async ({ providerBatchId }) => {
      this.calls.push(`poll ${key}`);
      return nativeBatch(providerBatchId, { phase: 'running', nativeStatus: 'in_progress' });
    };
    return account;
  }
}

let accounts: Accounts;
let shards: ReturnType<typeof createTestShards>;
beforeEach(async () => {
  await db.pool.query('DELETE FROM provider_credentials');
  accounts = new Accounts();
  shards = createTestShards(db, new FakeProvider(), { providers: accounts.adapters });
});

async function keep(database: Database, key: string, tenantId: string | null, projectId: string | null = null) {
  const credentialId = newCredentialId();
  await insertCredential(database.pool, {
    ...{ credentialId, provider: 'openai', tenantId, projectId, name: key, createdBy: 'key_x' },
    key: { sealed: await TEST_CIPHER.seal(Buffer.from(key), credentialContext(credentialId)), hint: '…' },
  });
  return credentialId;
}

async function ownerOf({ ref }: TestShard): Promise<string> {
  const { rows } = await db.pool.query(
    'SELECT j.tenant_id FROM batch_jobs j JOIN batch_shards s ON s.job_id = j.job_id ORDER BY j.created_at DESC LIMIT 1',
  );
  expect(ref.shard).toBe(1);
  return rows[0].tenant_id;
}

test('the project’s wins over the tenant’s, that over the gateway’s, and that over the environment’s; the newest of several', async () => {
  const shard = await shards.newShard();
  const tenantId = await ownerOf(shard);
  const chosen = async () => {
    expect((await shard.nextStep()).kind).toBe('submit');
    return (await shard.attempt()).credentialId;
  };
  expect(await chosen()).toBe('gateway');
  const gateway = await keep(db, 'of gateway', null);
  expect(await chosen()).toBe(gateway);
  const tenant = await keep(db, 'of tenant', tenantId);
  expect(await chosen()).toBe(tenant);
  const newer = await keep(db, 'of tenant, newer', tenantId);
  expect(await chosen()).toBe(newer);
  await keep(db, 'of another project', tenantId, 'other');
  expect(await chosen()).toBe(newer);
  await db.pool.query("UPDATE batch_jobs SET project_id = 'web' WHERE tenant_id = $1", [tenantId]);
  const project = await keep(db, 'of project', tenantId, 'web');
  expect(await chosen()).toBe(project);
  for (const [id, next] of [
    [project, newer],
    [newer, tenant],
  ] as const) {
    await revokeCredential(db.pool, { tenantId, credentialId: id }, new Date());
    expect(await chosen()).toBe(next);
  }
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
  expect(accounts.calls).toEqual(['create of tenant']);
});

test('a batch stays with the credential it was sent with: parked while that is revoked, and gone on with once it is replaced', async () => {
  const shard = await shards.newShard();
  const tenantId = await ownerOf(shard);
  const credentialId = await keep(db, 'first', tenantId);
  expect(await shard.submit()).toEqual({ kind: 'accepted' });
  await keep(db, 'newer', tenantId);
  expect(await shard.poll()).toMatchObject({ kind: 'open' });
  await revokeCredential(db.pool, { tenantId, credentialId }, new Date());
  expect(await shard.poll()).toMatchObject({ kind: 'open', waiting: 'credential_refused' });
  expect(await shard.row()).toMatchObject({ waitingReason: 'credential_refused' });
  const sealed = await TEST_CIPHER.seal(Buffer.from('second'), credentialContext(credentialId));
  await replaceKey(db.pool, { tenantId, credentialId }, { sealed, hint: '…' }, new Date());
  expect(await shard.poll()).toMatchObject({ kind: 'open' });
  expect((await shard.row()).waitingReason).toBeNull();
  expect((await shard.attempt()).credentialId).toBe(credentialId);
  expect(accounts.calls).toEqual(['create first', 'poll first', 'poll second']);
});

test('another tenant’s credential is never chosen, and one of the same rank for another provider neither', async () => {
  const shard = await shards.newShard();
  const other = await shards.newShard();
  await keep(db, 'of another', await ownerOf(other));
  const { rows } = await db.pool.query('SELECT tenant_id FROM batch_jobs ORDER BY created_at DESC OFFSET 1 LIMIT 1');
  const id = await keep(db, 'gemini', rows[0].tenant_id);
  await db.pool.query("UPDATE provider_credentials SET provider = 'gemini' WHERE credential_id = $1", [id]);
  await shard.submit();
  expect(accounts.calls).toEqual(['create environment']);
});
