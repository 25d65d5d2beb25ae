import { z } from 'zod';
import { EVENT_TYPES, JOB_EVENT_TYPES } from '../domain/event.ts';
import {
  DELIVERY_ERRORS,
  DELIVERY_STATES,
  MAX_GIVE_UP_SECONDS,
  MIN_GIVE_UP_SECONDS,
} from '../domain/webhook-delivery.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { plainText, Timestamp, uniqueList } from './text.ts';

const MAX_URL_LENGTH = 2_000;
const MAX_OVERLAP_SECONDS = 7 * 24 * 3_600;
const DEFAULT_OVERLAP_SECONDS = 24 * 3_600;

export const WebhookEndpointId = z
  .string()
  .meta({ description: 'A webhook endpoint id.', example: 'whe_01j7zb8k3te9aabfm0z0e2d3k4' });

export const WebhookDeliveryId = z
  .string()
  .meta({ description: 'A webhook delivery id.', example: 'whd_01j7zb8k3te9aabfm0z0e2d3k4' });

const WebhookUrl = z.url().max(MAX_URL_LENGTH).meta({
  description: 'https, without a user name, and no private address. Redirects are not followed.',
  example: 'https://hooks.example.com/batchgate',
});

const EventTypes = uniqueList(z.enum(EVENT_TYPES), { max: EVENT_TYPES.length }).meta({
  description: 'The types to be told of. Absent or null: all but `ledger.difference`, which has to be named.',
  example: ['batch_job.completed', 'batch_job.failed'],
});

const Description = plainText(200).nullable();

const GiveUpAfter = z.int().min(MIN_GIVE_UP_SECONDS).max(MAX_GIVE_UP_SECONDS).nullable().meta({
  description: 'Seconds for which an event is tried. Null: 24 hours, and half an hour for events of tasks.',
});

/** `webhook` of create_job. */
export const JobWebhook = z
  .strictObject({
    url: WebhookUrl,
    event_types: uniqueList(z.enum(JOB_EVENT_TYPES), { max: JOB_EVENT_TYPES.length }).optional(),
  })
  .meta({
    id: 'JobWebhook',
    description:
      'Told of this job alone, beside the endpoints of the tenant, and signed with the secret of `rotate_job_webhook_secret`, ' +
      'which has to be made before. `event_types` absent: every event of the job.',
  });

export const CreateWebhookEndpoint = z
  .strictObject({
    url: WebhookUrl,
    event_types: EventTypes.nullable().optional(),
    project_id: plainText(128).nullable().optional().meta({
      description: 'Only events of this project. A key bound to a project makes endpoints of that project alone.',
    }),
    description: Description.optional(),
    give_up_after_seconds: GiveUpAfter.optional(),
  })
  .meta({ id: 'CreateWebhookEndpoint' });
export type CreateWebhookEndpoint = z.infer<typeof CreateWebhookEndpoint>;

export const UpdateWebhookEndpoint = z
  .strictObject({
    url: WebhookUrl.optional(),
    event_types: EventTypes.nullable().optional(),
    description: Description.optional(),
    give_up_after_seconds: GiveUpAfter.optional(),
    disabled: z.boolean().optional(),
  })
  .meta({ id: 'UpdateWebhookEndpoint', description: 'A field that is left out stays as it is.' });
export type UpdateWebhookEndpoint = z.infer<typeof UpdateWebhookEndpoint>;

export const WebhookEndpoint = z
  .object({
    endpoint_id: WebhookEndpointId,
    tenant_id: z.string(),
    project_id: z.string().nullable(),
    url: z.string(),
    event_types: z.array(z.string()).nullable().meta({ description: 'Null: all but `ledger.difference`.' }),
    description: z.string().nullable(),
    give_up_after_seconds: z.int().nullable(),
    disabled: z.boolean(),
    disabled_at: Timestamp.nullable(),
    disabled_reason: z.enum(['request', 'gone']).nullable().meta({ description: '`gone`: it answered 410.' }),
    previous_secret_until: Timestamp.nullable().meta({
      description: 'Until then calls bear a signature of the secret before, too.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'WebhookEndpoint' });
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;

const Secret = z
  .string()
  .nullable()
  .meta({
    description:
      'What calls are verified with, as Standard Webhooks says. Shown this once; null in the repetition of a call with the same ' +
      '`Idempotency-Key`: rotate a secret whose answer was lost.',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  });

export const WebhookEndpointMade = WebhookEndpoint.extend({ secret: Secret }).meta({ id: 'WebhookEndpointMade' });
export type WebhookEndpointMade = z.infer<typeof WebhookEndpointMade>;

export const WebhookEndpointList = z
  .object({ data: z.array(WebhookEndpoint), next_cursor: NextCursor })
  .meta({ id: 'WebhookEndpointList' });
export type WebhookEndpointList = z.infer<typeof WebhookEndpointList>;

export const ListWebhookEndpointsQuery = z.strictObject(PageQuery);
export type ListWebhookEndpointsQuery = z.infer<typeof ListWebhookEndpointsQuery>;

export const RotateWebhookSecret = z
  .strictObject({
    overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(DEFAULT_OVERLAP_SECONDS).meta({
      description: 'For how long the secret before signs too. 0 when it has leaked.',
    }),
  })
  .meta({ id: 'RotateWebhookSecret' });
export type RotateWebhookSecret = z.infer<typeof RotateWebhookSecret>;

export const WebhookSecretRotated = z
  .object({ secret: Secret, previous_secret_until: Timestamp.nullable() })
  .meta({ id: 'WebhookSecretRotated' });

export const JobWebhookSecret = z
  .object({
    exists: z.boolean(),
    created_at: Timestamp.nullable(),
    rotated_at: Timestamp.nullable(),
    previous_secret_until: Timestamp.nullable(),
  })
  .meta({ id: 'JobWebhookSecret', description: 'Of the keys of the same tenant, project and customer as this one.' });
export type JobWebhookSecret = z.infer<typeof JobWebhookSecret>;

export const WebhookDelivery = z
  .object({
    delivery_id: WebhookDeliveryId,
    event_id: z.string().meta({ description: '`webhook-id` of every attempt.' }),
    event_type: z.string(),
    job_id: z.string().nullable(),
    endpoint_id: z.string().nullable().meta({ description: 'Null for the webhook of a job.' }),
    url: z.string(),
    status: z.enum(DELIVERY_STATES),
    attempts: z.int().meta({ description: 'Since it was made, or last replayed.' }),
    replays: z.int(),
    status_code: z.int().nullable().meta({ description: 'Of the last attempt that was answered.' }),
    error: z.enum(DELIVERY_ERRORS).nullable(),
    next_attempt_at: Timestamp.nullable(),
    give_up_at: Timestamp.nullable(),
    created_at: Timestamp,
    ended_at: Timestamp.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

const Attempt = z
  .object({
    run: z.int().meta({ description: '1, and one more for each replay.' }),
    attempt: z.int(),
    started_at: Timestamp,
    duration_ms: z.int().nullable().meta({ description: 'Null while it is under way, or where it was broken off.' }),
    status_code: z.int().nullable(),
    error: z.enum(DELIVERY_ERRORS).nullable(),
  })
  .meta({ id: 'WebhookAttempt' });

export const WebhookDeliveryDetail = WebhookDelivery.extend({
  tried: z.array(Attempt).meta({ description: 'Every attempt in order, the last thousand.' }),
}).meta({ id: 'WebhookDeliveryDetail' });
export type WebhookDeliveryDetail = z.infer<typeof WebhookDeliveryDetail>;

export const WebhookDeliveryList = z
  .object({ data: z.array(WebhookDelivery), next_cursor: NextCursor })
  .meta({ id: 'WebhookDeliveryList' });
export type WebhookDeliveryList = z.infer<typeof WebhookDeliveryList>;

/** An id, or a type of event. */
const Word = z
  .string()
  .max(100)
  .regex(/^[\w.]+$/, 'must be letters, digits, _ and . alone');

export const ListWebhookDeliveriesQuery = z.strictObject({
  ...PageQuery,
  endpoint_id: Word.optional(),
  status: z.enum(DELIVERY_STATES).optional(),
  event_type: Word.optional(),
  job_id: Word.optional(),
});
export type ListWebhookDeliveriesQuery = z.infer<typeof ListWebhookDeliveriesQuery>;
