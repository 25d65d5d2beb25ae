import type pg from 'pg';
import { toUuid } from './ids.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

export interface EndpointRow {
  readonly endpointId: string;
  readonly tenantId: string;
  /** Null is told of the whole tenant. */
  readonly projectId: string | null;
  readonly url: string;
  /** Null takes all. */
  readonly eventTypes: readonly string[] | null;
  readonly description: string | null;
  readonly giveUpAfterSeconds: number | null;
  readonly disabledAt: Date | null;
  /** `gone`: it answered 410. */
  readonly disabledReason: 'request' | 'gone' | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Until then calls are signed with the secret before too; null where there is none. */
  readonly previousUntil: Date | null;
}

/** Whose endpoints a key may see: those of its project alone where it is bound to one. */
export interface EndpointScope {
  readonly tenantId: string;
  readonly projectId: string | null;
}

const SELECT_ENDPOINT = `
  SELECT e.endpoint_id AS "endpointId", e.tenant_id AS "tenantId", e.project_id AS "projectId", e.url,
    e.event_types AS "eventTypes", e.description, e.give_up_after_seconds AS "giveUpAfterSeconds",
    e.disabled_at AS "disabledAt", e.disabled_reason AS "disabledReason", e.created_by AS "createdBy",
    e.created_at AS "createdAt", e.updated_at AS "updatedAt", s.previous_until AS "previousUntil"
  FROM webhook_endpoints e
  LEFT JOIN webhook_secrets s ON s.endpoint_id = e.endpoint_id
  WHERE e.tenant_id = $1 AND ($2::text IS NULL OR e.project_id = $2) AND e.deleted_at IS NULL`;

export async function insertEndpoint(
  db: Queryable,
  row: Omit<EndpointRow, 'updatedAt' | 'previousUntil' | 'disabledAt' | 'disabledReason'>,
): Promise<void> {
  await db.query(
    `INSERT INTO webhook_endpoints (endpoint_id, tenant_id, project_id, url, event_types, description,
       give_up_after_seconds, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
    [
      row.endpointId,
      row.tenantId,
      row.projectId,
      row.url,
      row.eventTypes,
      row.description,
      row.giveUpAfterSeconds,
      row.createdBy,
      row.createdAt,
    ],
  );
}

/** Null for one that is unknown, malformed, deleted or out of scope. */
export async function findEndpoint(
  db: Queryable,
  scope: EndpointScope,
  endpointId: string,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<EndpointRow | null> {
  if (toUuid('webhookEndpoint', endpointId) === null) return null;
  const { rows } = await db.query<EndpointRow>(
    `${SELECT_ENDPOINT} AND e.endpoint_id = $3 ${lock ? 'FOR NO KEY UPDATE OF e' : ''}`,
    [scope.tenantId, scope.projectId, endpointId],
  );
  return rows[0] ?? null;
}

/** Newest first. */
export async function listEndpoints(
  db: Queryable,
  scope: EndpointScope,
  page: { readonly after: { readonly createdAt: Date; readonly endpointId: string } | null; readonly limit: number },
): Promise<EndpointRow[]> {
  const { rows } = await db.query<EndpointRow>(
    `${SELECT_ENDPOINT} AND ($3::timestamptz IS NULL OR (e.created_at, e.endpoint_id) < ($3, $4))
     ORDER BY e.created_at DESC, e.endpoint_id DESC LIMIT $5`,
    [scope.tenantId, scope.projectId, page.after?.createdAt ?? null, page.after?.endpointId ?? null, page.limit],
  );
  return rows;
}

/** How many a tenant has, counted while no other transaction makes one for it. */
export async function countEndpoints(client: Queryable, tenantId: string): Promise<number> {
  await client.query("SELECT pg_advisory_xact_lock(hashtextextended('batchgate.webhook endpoints ' || $1, 0))", [
    tenantId,
  ]);
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM webhook_endpoints WHERE tenant_id = $1 AND deleted_at IS NULL',
    [tenantId],
  );
  return rows[0]?.count ?? 0;
}

/** Its row must be locked. */
export async function updateEndpoint(db: Queryable, row: EndpointRow): Promise<void> {
  await db.query(
    `UPDATE webhook_endpoints SET url = $2, event_types = $3, description = $4, give_up_after_seconds = $5,
       disabled_at = $6, disabled_reason = $7, updated_at = $8
     WHERE endpoint_id = $1`,
    [
      row.endpointId,
      row.url,
      row.eventTypes,
      row.description,
      row.giveUpAfterSeconds,
      row.disabledAt,
      row.disabledReason,
      row.updatedAt,
    ],
  );
}

/** The row stays, for the deliveries that name it. */
export async function deleteEndpoint(db: Queryable, endpointId: string, now: Date): Promise<void> {
  await db.query('UPDATE webhook_endpoints SET deleted_at = $2 WHERE endpoint_id = $1', [endpointId, now]);
}

/** After an answer that says it will never be back. False where it is disabled already. */
export async function disableGoneEndpoint(db: Queryable, endpointId: string, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE webhook_endpoints SET disabled_at = $2, disabled_reason = 'gone', updated_at = $2
     WHERE endpoint_id = $1 AND disabled_at IS NULL AND deleted_at IS NULL`,
    [endpointId, now],
  );
  return rowCount === 1;
}
