import type { WebhookDelivery, WebhookDeliveryDetail, WebhookEndpoint } from '../../contracts/webhook.ts';
import type { AttemptRow, DeliveryRow } from '../../db/webhook-deliveries.ts';
import type { EndpointRow } from '../../db/webhook-endpoints.ts';
import { presentTime } from './time.ts';

/** An endpoint without its secret. */
export function presentEndpoint(row: EndpointRow, now: Date = row.updatedAt): WebhookEndpoint {
  const { previousUntil } = row;
  return {
    endpoint_id: row.endpointId,
    tenant_id: row.tenantId,
    project_id: row.projectId,
    url: row.url,
    event_types: row.eventTypes === null ? null : [...row.eventTypes],
    description: row.description,
    give_up_after_seconds: row.giveUpAfterSeconds,
    disabled: row.disabledAt !== null,
    disabled_at: presentTime(row.disabledAt),
    disabled_reason: row.disabledReason,
    previous_secret_until: presentTime(previousUntil !== null && previousUntil > now ? previousUntil : null),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export function presentDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    delivery_id: row.deliveryId,
    event_id: row.eventId,
    event_type: row.eventType,
    job_id: row.subjectId?.startsWith('job_') === true ? row.subjectId : null,
    endpoint_id: row.endpointId,
    url: row.url,
    status: row.state,
    attempts: row.attempts,
    replays: row.run - 1,
    status_code: row.statusCode,
    error: row.error,
    next_attempt_at: presentTime(row.nextAttemptAt),
    give_up_at: presentTime(row.giveUpAt),
    created_at: row.createdAt.toISOString(),
    ended_at: presentTime(row.endedAt),
  };
}

export function presentAttempt(row: AttemptRow): WebhookDeliveryDetail['tried'][number] {
  return {
    run: row.run,
    attempt: row.attempt,
    started_at: row.startedAt.toISOString(),
    duration_ms: row.durationMs,
    status_code: row.statusCode,
    error: row.error,
  };
}
