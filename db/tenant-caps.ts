import type pg from 'pg';
import type { GatewayError } from '../domain/gateway-error.ts';
import type { JsonObject } from '../domain/json-object.ts';
import { type Caps, findExcess, type Growth, type Holdings, NO_GROWTH } from '../domain/tenant-caps.ts';
import { readTenantPolicy } from '../domain/tenant-policy.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

export interface Room {
  readonly caps: Caps;
  readonly held: Holdings;
}

/**
 * Refuses what the transaction has just added where the tenant would then hold more than its policy allows. The last thing a
 * transaction does before it commits: one of a tenant at a time counts, so that the caps are exact, and none of them
 * waits for another's work. Throws `quota_exceeded`.
 */
export async function requireCaps(client: pg.PoolClient, tenantId: string, growth: Growth): Promise<void> {
  await lockCaps(client, tenantId);
  const { held, caps } = await readRoom(client, tenantId);
  const excess = findExcess(held, growth, caps);
  if (excess !== null) throw excess;
}

/** The same for a job that the transaction has just made, with all of its items, */
export async function requireCapsOfNewJob(client: pg.PoolClient, tenantId: string, uuid: string): Promise<void> {
  await requireCaps(client, tenantId, { ...(await sizeOf(client, uuid)), drafts: 1 });
}

/** and for a draft that had none before. */
export async function requireCapsOfFilledJob(client: pg.PoolClient, tenantId: string, uuid: string): Promise<void> {
  await requireCaps(client, tenantId, await sizeOf(client, uuid));
}

async function sizeOf(client: pg.PoolClient, uuid: string): Promise<Growth> {
  const { rows } = await client.query<Omit<Growth, 'drafts'>>(
    'SELECT item_count AS "openItems", item_bytes::float8 AS "storedBytes" FROM batch_jobs WHERE job_id = $1',
    [uuid],
  );
  return { ...NO_GROWTH, ...rows[0] };
}

/** Why the tenant may have no draft more, or null. Until the transaction ends nobody else may take what is left. */
export async function findDraftExcess(client: pg.PoolClient, tenantId: string): Promise<GatewayError | null> {
  await lockCaps(client, tenantId);
  const { held, caps } = await readRoom(client, tenantId);
  return findExcess({ ...held, drafts: held.drafts + 1 }, { ...NO_GROWTH, drafts: 1 }, caps);
}

/** Throws `quota_exceeded` where what is to be added would go beyond what was read: no more than a hint, since others add too. */
export function requireRoom({ held, caps }: Room, growth: Growth): void {
  const excess = findExcess(sumOf(held, growth), growth, caps);
  if (excess !== null) throw excess;
}

export function hasRoom({ held, caps }: Room, growth: Growth): boolean {
  return findExcess(sumOf(held, growth), growth, caps) === null;
}

function sumOf(held: Holdings, growth: Growth): Holdings {
  return {
    drafts: held.drafts + growth.drafts,
    openItems: held.openItems + growth.openItems,
    storedBytes: held.storedBytes + growth.storedBytes,
  };
}

async function lockCaps(client: pg.PoolClient, tenantId: string): Promise<void> {
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended('tenant caps:' || $1, 0))", [tenantId]);
}

/** What the tenant holds now and may hold, without a lock: drafts of batch jobs, items and content of jobs of every kind, and uploaded documents. Costs by the tenant's jobs and documents, never by items. */
export async function readRoom(db: Queryable, tenantId: string): Promise<Room> {
  const { rows } = await db.query<{ policy: JsonObject; drafts: number; openItems: number; storedBytes: number }>(
    `SELECT t.policy,
       (SELECT count(*) FROM batch_jobs j
        WHERE j.tenant_id = $1 AND j.kind = 'batch' AND j.admitted_at IS NULL AND j.state IN ('draft', 'validating'))::int AS drafts,
       (SELECT coalesce(sum(j.item_count), 0) FROM batch_jobs j
        WHERE j.tenant_id = $1 AND j.state NOT IN ('completed', 'completed_with_errors', 'expired', 'cancelled', 'failed'))::float8
         AS "openItems",
       CASE WHEN t.policy -> 'max_stored_bytes' <> 'null' THEN
         (SELECT coalesce(sum(CASE WHEN j.request_body_deleted_at IS NULL THEN j.item_bytes ELSE 0 END + coalesce(p.result_bytes, 0)), 0)
          FROM batch_jobs j LEFT JOIN job_progress p ON p.job_id = j.job_id
          WHERE j.tenant_id = $1 AND j.content_deleted_at IS NULL)::float8
         + (SELECT coalesce(sum(d.bytes), 0) FROM documents d WHERE d.tenant_id = $1 AND d.content_deleted_at IS NULL)::float8
       ELSE 0 END AS "storedBytes"
     FROM tenants t WHERE t.tenant_id = $1`,
    [tenantId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a tenant with jobs was not found');
  const { policy, ...held } = row;
  return { caps: readTenantPolicy(policy), held };
}
