import { z } from 'zod';
import type { ErrorCode } from '../domain/gateway-error.ts';

/** What the task surface calls each refusal. Several may be one to its callers. */
export const TASK_CODE_OF = {
  invalid_json: 'INVALID_REQUEST',
  invalid_request: 'INVALID_REQUEST',
  invalid_item: 'INVALID_REQUEST',
  invalid_cursor: 'INVALID_REQUEST',
  duplicate_custom_id: 'INVALID_REQUEST',
  custom_id_missing: 'INVALID_REQUEST',
  custom_id_invalid: 'INVALID_REQUEST',
  custom_id_may_be_personal: 'INVALID_REQUEST',
  body_encoding: 'INVALID_REQUEST',
  webhook_signature_invalid: 'INVALID_REQUEST',
  unauthorized: 'UNAUTHORIZED',
  budget_exceeded: 'BUDGET_EXCEEDED',
  max_cost_exceeded: 'BUDGET_EXCEEDED',
  forbidden: 'FORBIDDEN',
  tenant_suspended: 'ACCOUNT_SUSPENDED',
  spending_suspended: 'SPENDING_SUSPENDED',
  model_not_allowed: 'MODEL_NOT_ALLOWED',
  not_found: 'NOT_FOUND',
  method_not_allowed: 'METHOD_NOT_ALLOWED',
  not_acceptable: 'NOT_ACCEPTABLE',
  request_timeout: 'REQUEST_TIMEOUT',
  conflict: 'CONFLICT',
  job_busy: 'CONFLICT',
  job_not_draft: 'CONFLICT',
  job_not_finished: 'CONFLICT',
  legal_hold: 'CONFLICT',
  idempotency_conflict: 'IDEMPOTENCY_CONFLICT',
  item_conflict: 'CONFLICT',
  nothing_to_retry: 'CONFLICT',
  request_not_stored: 'CONFLICT',
  nothing_to_process: 'CONFLICT',
  content_deleted: 'CONTENT_DELETED',
  content_expired: 'CONTENT_DELETED',
  content_lost: 'CONTENT_DELETED',
  line_too_long: 'REQUEST_TOO_LARGE',
  request_too_large: 'REQUEST_TOO_LARGE',
  job_too_large: 'REQUEST_TOO_LARGE',
  document_too_large: 'REQUEST_TOO_LARGE',
  uri_too_long: 'URI_TOO_LONG',
  unsupported_media_type: 'UNSUPPORTED_MEDIA_TYPE',
  document_type_unsupported: 'UNSUPPORTED_MEDIA_TYPE',
  empty_job: 'INVALID_REQUEST',
  model_unknown: 'MODEL_UNKNOWN',
  price_unknown: 'PRICE_UNKNOWN',
  batch_capability_not_supported: 'NOT_SUPPORTED',
  endpoint_not_supported: 'NOT_SUPPORTED',
  target_excluded: 'NOT_SUPPORTED',
  no_credential: 'NO_CREDENTIAL',
  encryption_not_configured: 'ENCRYPTION_NOT_CONFIGURED',
  webhook_secret_missing: 'WEBHOOK_SECRET_MISSING',
  deadline_passed: 'INVALID_REQUEST',
  storage_policy_looser: 'INVALID_REQUEST',
  retry_not_allowed: 'INVALID_REQUEST',
  safety_acknowledgement_required: 'INVALID_REQUEST',
  document_empty: 'INVALID_REQUEST',
  document_encrypted: 'INVALID_REQUEST',
  document_corrupt: 'INVALID_REQUEST',
  rate_limited: 'RATE_LIMITED',
  concurrency_limit: 'CONCURRENCY_LIMIT',
  quota_exceeded: 'QUOTA_EXCEEDED',
  headers_too_large: 'HEADERS_TOO_LARGE',
  internal: 'INTERNAL',
  dependency_unavailable: 'UNAVAILABLE',
} as const satisfies { readonly [code in ErrorCode]: string };

export type TaskRefusalCode = (typeof TASK_CODE_OF)[ErrorCode];
export const TASK_REFUSAL_CODES: readonly TaskRefusalCode[] = [...new Set(Object.values(TASK_CODE_OF))];

export const TaskErrorEnvelope = z
  .object({
    error: z.object({
      code: z.enum(TASK_REFUSAL_CODES).meta({ id: 'TaskRefusalCode', description: 'The closed list of refusals.' }),
      message: z.string().meta({ description: 'Names the field at fault, where it is one.' }),
    }),
  })
  .meta({ id: 'TaskRefusal', description: 'Every answer of the task routes that is not a success has this body.' });
export type TaskErrorEnvelope = z.infer<typeof TaskErrorEnvelope>;
