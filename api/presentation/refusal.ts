import { type ErrorDetailRow, Refusal } from '../../contracts/error.ts';
import type { StoredRefusal } from '../../db/submissions.ts';
import { type ErrorDetail, GatewayError } from '../../domain/gateway-error.ts';

/** An error as its envelope shows it, but for the request id. */
export function refusalOf(error: GatewayError): Refusal {
  return {
    error: error.code,
    message: error.message,
    ...(error.field !== undefined && { field: error.field }),
    ...(error.details !== undefined && { details: error.details.map(presentDetail) }),
    ...(error.detailsCount !== undefined && { details_count: error.detailsCount }),
  };
}

export function presentDetail({ customId, ...detail }: ErrorDetail): ErrorDetailRow {
  return { ...detail, ...(customId !== undefined && { custom_id: customId }) };
}

/** A refusal as it was stored with a submission; null where none is. */
export function presentRefusal(stored: unknown): Refusal | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const details: unknown = 'details' in stored ? stored.details : undefined;
  const rows = Array.isArray(details) ? details.map((detail: ErrorDetail) => presentDetail(detail)) : undefined;
  const result = Refusal.safeParse({ ...stored, ...(rows !== undefined && { details: rows }) });
  return result.success ? result.data : null;
}

/** A stored refusal as the error its submission is answered with. */
export function refusedAs(stored: StoredRefusal): GatewayError {
  const { error, message, field, details, details_count } = stored;
  return new GatewayError(error, message, { field, details, detailsCount: details_count });
}
