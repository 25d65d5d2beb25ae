import { z } from 'zod';
import type {
  CreateWebhookEndpoint,
  ListWebhookEndpointsQuery,
  RotateWebhookSecret,
  UpdateWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointList,
} from '../../contracts/webhook.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { inTransaction } from '../../db/transaction.ts';
import {
  countEndpoints,
  deleteEndpoint,
  type EndpointRow,
  type EndpointScope,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  updateEndpoint,
} from '../../db/webhook-endpoints.ts';
import { insertSecret, lockEndpointSecret, replaceSecret } from '../../db/webhook-secrets.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { CursorId, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentEndpoint } from '../presentation/webhook.ts';
import { requireJobOwner } from './job-ownership.ts';
import type { KeptAnswer } from './once.ts';
import { tenantScope } from './owned-job.ts';
import { requirePublicUrl } from './public-url.ts';
import { makeSecret, showingSecret } from './webhook-secret.ts';

const LIST = 'webhook_endpoints';
const MAX_ENDPOINTS = 50;

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'cipher' | 'allowedFetchHosts'>;

/** Who asks for which endpoint. */
export interface EndpointRequest {
  readonly principal: Principal;
  readonly endpointId: string;
}

/** One text for unknown, malformed, deleted and foreign ids. */
export function noSuchEndpoint(): GatewayError {
  return new GatewayError('not_found', 'No such webhook endpoint.');
}

/** Throws `forbidden` for a key that is bound to a customer: an endpoint would tell it of others. */
export function endpointScope(principal: Principal): EndpointScope {
  const { tenantId, projectId, customerId } = tenantScope(principal);
  if (customerId === null) return { tenantId, projectId };
  throw new GatewayError('forbidden', 'A key of one customer has no endpoints; its jobs may have webhooks.');
}

/**
 * Makes an endpoint; the answer holds its secret, this once. Throws `invalid_request` for a URL that is not public,
 * `conflict` where there are too many, `not_found` for a project that the key may not use.
 */
export async function createEndpoint(
  { db, now, cipher, allowedFetchHosts }: Dependencies,
  request: {
    readonly principal: Principal;
    readonly endpoint: CreateWebhookEndpoint;
    readonly idempotency: IdempotentRequest | null;
  },
): Promise<KeptAnswer> {
  const { principal, endpoint, idempotency } = request;
  endpointScope(principal);
  await requirePublicUrl(endpoint.url, 'url', allowedFetchHosts);
  const secretId = newId('webhookSecret');
  const { sealed, shown } = await makeSecret(cipher, secretId);
  return showingSecret(db, idempotency, async (client, show) => {
    const { owner } = await requireJobOwner(client, principal, { project_id: endpoint.project_id });
    if ((await countEndpoints(client, owner.tenantId)) >= MAX_ENDPOINTS)
      throw new GatewayError('conflict', `A tenant has at most ${MAX_ENDPOINTS} webhook endpoints. Delete one first.`);
    const at = now();
    const row = {
      endpointId: newId('webhookEndpoint'),
      tenantId: owner.tenantId,
      projectId: owner.projectId,
      url: endpoint.url,
      eventTypes: endpoint.event_types ?? null,
      description: endpoint.description ?? null,
      giveUpAfterSeconds: endpoint.give_up_after_seconds ?? null,
      createdBy: principal.keyId,
      createdAt: at,
    };
    await insertEndpoint(client, row);
    await insertSecret(client, owner, { secretId, sealed, createdAt: at, endpointId: row.endpointId });
    await recordAudit(client, {
      act: 'webhook_endpoint.created',
      actor: principal.keyId,
      tenantId: row.tenantId,
      subject: row.endpointId,
      details: { project_id: row.projectId },
    });
    show(shown);
    const made = presentEndpoint({ ...row, ...NEW, updatedAt: at });
    return { status: 201, body: JSON.stringify({ ...made, secret: null }) };
  });
}

const NEW = { disabledAt: null, disabledReason: null, previousUntil: null };

/** Throws `not_found`. */
export async function getEndpoint(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  { principal, endpointId }: EndpointRequest,
): Promise<WebhookEndpoint> {
  const row = await findEndpoint(db.pool, endpointScope(principal), endpointId);
  if (row === null) throw noSuchEndpoint();
  return presentEndpoint(row, now());
}

/** Newest first. */
export async function listOwnedEndpoints(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  { principal, query }: { readonly principal: Principal; readonly query: ListWebhookEndpointsQuery },
): Promise<WebhookEndpointList> {
  const position = decodeCursor(LIST, [z.int(), CursorId] as const, query.cursor);
  const rows = await listEndpoints(db.pool, endpointScope(principal), {
    after: position === null ? null : { createdAt: new Date(position[0]), endpointId: position[1] },
    limit: query.limit + 1,
  });
  const page = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? page.at(-1) : undefined;
  return {
    data: page.map((row) => presentEndpoint(row, now())),
    next_cursor: last === undefined ? null : encodeCursor(LIST, [last.createdAt.getTime(), last.endpointId]),
  };
}

/** Throws `not_found`, or `invalid_request` for a URL that is not public. */
export async function changeEndpoint(
  { db, now, allowedFetchHosts }: Dependencies,
  { principal, endpointId, change }: EndpointRequest & { readonly change: UpdateWebhookEndpoint },
): Promise<WebhookEndpoint> {
  if (change.url !== undefined) await requirePublicUrl(change.url, 'url', allowedFetchHosts);
  return inTransaction(db, async (client) => {
    const row = await findEndpoint(client, endpointScope(principal), endpointId, { lock: true });
    if (row === null) throw noSuchEndpoint();
    const next = applyChange(row, change, now());
    await updateEndpoint(client, next);
    await recordAudit(client, {
      act: 'webhook_endpoint.changed',
      actor: principal.keyId,
      tenantId: row.tenantId,
      subject: endpointId,
      details: { fields: Object.keys(change) },
    });
    return presentEndpoint(next, now());
  });
}

function applyChange(row: EndpointRow, change: UpdateWebhookEndpoint, at: Date): EndpointRow {
  const isDisabled = change.disabled ?? row.disabledAt !== null;
  return {
    ...row,
    url: change.url ?? row.url,
    eventTypes: change.event_types === undefined ? row.eventTypes : change.event_types,
    description: change.description === undefined ? row.description : change.description,
    giveUpAfterSeconds:
      change.give_up_after_seconds === undefined ? row.giveUpAfterSeconds : change.give_up_after_seconds,
    disabledAt: isDisabled ? (row.disabledAt ?? at) : null,
    disabledReason: isDisabled ? (row.disabledReason ?? 'request') : null,
    updatedAt: at,
  };
}

/** Nothing more is sent to it. Throws `not_found`. */
export async function removeEndpoint(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  { principal, endpointId }: EndpointRequest,
): Promise<void> {
  await inTransaction(db, async (client) => {
    const row = await findEndpoint(client, endpointScope(principal), endpointId, { lock: true });
    if (row === null) throw noSuchEndpoint();
    await deleteEndpoint(client, endpointId, now());
    const { tenantId } = row;
    await recordAudit(client, {
      act: 'webhook_endpoint.deleted',
      actor: principal.keyId,
      tenantId,
      subject: endpointId,
    });
  });
}

/** The answer holds the new secret, this once; the one before signs too for as long as is asked. Throws `not_found`. */
export async function rotateEndpointSecret(
  { db, now, cipher }: Dependencies,
  request: EndpointRequest & {
    readonly rotation: RotateWebhookSecret;
    readonly idempotency: IdempotentRequest | null;
  },
): Promise<KeptAnswer> {
  const { principal, endpointId, rotation, idempotency } = request;
  return showingSecret(db, idempotency, async (client, show) => {
    const row = await findEndpoint(client, endpointScope(principal), endpointId, { lock: true });
    const secret = row === null ? null : await lockEndpointSecret(client, endpointId);
    if (row === null || secret === null) throw noSuchEndpoint();
    const { sealed, shown } = await makeSecret(cipher, secret.secretId);
    const at = now();
    const previousUntil = new Date(at.getTime() + rotation.overlap_seconds * 1_000);
    await replaceSecret(client, secret, { sealed, previousUntil, now: at });
    await recordAudit(client, {
      act: 'webhook_endpoint.secret_rotated',
      actor: principal.keyId,
      tenantId: row.tenantId,
      subject: endpointId,
      details: { overlap_seconds: rotation.overlap_seconds },
    });
    show(shown);
    const answer = { secret: null, previous_secret_until: previousUntil.toISOString() };
    return { status: 200, body: JSON.stringify(answer) };
  });
}
