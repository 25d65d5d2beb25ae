import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { appendItems } from '../../../api/operations/append-items.ts';
import { uploadManifest } from '../../../api/operations/upload-manifest.ts';
import type { Database } from '../../../db/client.ts';
import { newId, toUuid } from '../../../db/ids.ts';
import { DEFAULT_INTAKE_LIMITS, type IntakeLimits } from '../../../db/intake/intake-settings.ts';
import { SpoolSpace } from '../../../db/intake/spool-space.ts';
import type { IntakeDependencies, ItemsBody } from '../../../db/intake/take-items.ts';
import type { StoredItems } from '../../../db/item-intake.ts';
import { insertJob, type NewJob } from '../../../db/jobs.ts';
import { ensurePartitions } from '../../../db/partitions.ts';
import { GatewayError } from '../../../domain/gateway-error.ts';
import type { Principal } from '../../../domain/principal.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

export const TENANT = 'tenant_a';

export interface StoredRow {
  readonly item_no: number;
  readonly manifest_no: number;
  readonly custom_id: string;
  readonly body: string | null;
}

/** An item that asks for little; `text` tells its content from that of others. */
export function item(customId: string, text = 'Hi', more: object = {}): object {
  return { custom_id: customId, request: { messages: [{ role: 'user', content: text }], max_tokens: 5 }, ...more };
}

export function ndjson(items: readonly object[]): string {
  return items.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

export function principalOf(tenantId: string, more: Partial<Principal> = {}): Principal {
  return { keyId: 'key_1', role: 'tenant_admin', tenantId, projectId: null, customerId: null, scopes: [], ...more };
}

/** What a promise is refused with. */
export async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    (value) => new Error(`not refused: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof GatewayError) return error;
  throw error;
}

/** A database with a tenant, and the intake over it with a spool folder of its own. */
export async function createIntakeFixture(limits: Partial<IntakeLimits> = {}) {
  const database = await createTestDatabase();
  const { db } = database;
  const directory = await mkdtemp(join(tmpdir(), 'intake-'));
  const space = new SpoolSpace(2 ** 31);
  const dependencies: IntakeDependencies = {
    db,
    now: () => new Date(),
    intake: {
      spool: { directory, memoryBytes: 4096, space },
      limits: { ...DEFAULT_INTAKE_LIMITS, lockTimeoutMs: 300, ...limits },
    },
  };
  await ensurePartitions(db.pool, Date.now());
  await db.pool.query("INSERT INTO tenants (tenant_id, name) VALUES ('tenant_a', 'A'), ('tenant_b', 'B')");

  const body = (jobId: string, content: string | Buffer | Readable, more: Partial<ItemsBody>): ItemsBody => ({
    principal: principalOf(TENANT),
    jobId,
    format: 'ndjson',
    stream: content instanceof Readable ? content : Readable.from([Buffer.from(content)]),
    ...more,
  });
  return {
    db,
    space,
    directory,
    dependencies,
    newJob: (more: Partial<NewJob> = {}) => newJob(db, more),
    append: (jobId: string, content: string | Buffer | Readable, more: Partial<ItemsBody> = {}): Promise<StoredItems> =>
      appendItems(dependencies, body(jobId, content, more)),
    replace: (
      jobId: string,
      content: string | Buffer | Readable,
      more: Partial<ItemsBody> = {},
    ): Promise<StoredItems> => uploadManifest(dependencies, body(jobId, content, more)),
    rows: (jobId: string) => readRows(db, jobId),
    job: (jobId: string) => readJob(db, jobId),
    /** What a call must leave behind in any case: no file, no space, no transaction. */
    leftovers: async () => ({ files: await readdir(directory), spaceBytes: space.usedBytes, busy: busyClients(db) }),
    close: async () => {
      await database.drop();
      await rm(directory, { recursive: true });
    },
  };
}

export const NOTHING_LEFT = { files: [], spaceBytes: 0, busy: 0 };

function busyClients({ pool }: Database): number {
  return pool.totalCount - pool.idleCount;
}

async function newJob({ pool }: Database, more: Partial<NewJob>): Promise<string> {
  const jobId = newId('job');
  await insertJob(pool, {
    jobId,
    tenantId: TENANT,
    projectId: null,
    customerId: null,
    apiKeyId: 'key_1',
    endpoint: 'chat.completions',
    model: 'openai/gpt-4o-mini',
    name: null,
    metadata: {},
    requestDefaults: null,
    execution: {},
    maxCost: null,
    currency: 'USD',
    createdAt: new Date(),
    ...more,
  });
  return jobId;
}

/** Every row of every generation, in order. */
async function readRows({ pool }: Database, jobId: string): Promise<StoredRow[]> {
  const { rows } = await pool.query<StoredRow>(
    `SELECT coalesce(i.item_no, r.item_no) AS item_no, i.manifest_no, i.custom_id, r.body
     FROM (SELECT * FROM batch_items WHERE job_id = $1) i
     FULL JOIN (SELECT * FROM item_requests WHERE job_id = $1) r ON r.item_no = i.item_no AND r.bucket = i.bucket
     ORDER BY 1`,
    [toUuid('job', jobId)],
  );
  return rows;
}

async function readJob({ pool }: Database, jobId: string) {
  const { rows } = await pool.query<{
    manifest_no: number;
    first_item_no: number;
    item_count: number;
    item_bytes: string;
    grouped_items: string;
    grouped_bytes: string;
  }>(
    `SELECT manifest_no, first_item_no, item_count, item_bytes,
       coalesce((SELECT sum(items) FROM job_item_groups g WHERE g.job_id = j.job_id AND g.manifest_no = j.manifest_no), 0) AS grouped_items,
       coalesce((SELECT sum(bytes) FROM job_item_groups g WHERE g.job_id = j.job_id AND g.manifest_no = j.manifest_no), 0) AS grouped_bytes
     FROM batch_jobs j WHERE job_id = $1`,
    [toUuid('job', jobId)],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    manifestNo: row.manifest_no,
    firstItemNo: row.first_item_no,
    itemCount: row.item_count,
    itemBytes: Number(row.item_bytes),
    groupedItems: Number(row.grouped_items),
    groupedBytes: Number(row.grouped_bytes),
  };
}
