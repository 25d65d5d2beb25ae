import type { z } from 'zod';
import type { VARIABLES } from './variables.ts';

/** What one api process lets through. */
export interface RequestLimitSettings {
  readonly requestsPerMinute: number;
  readonly refusedKeysPerMinute: number;
  readonly trustedProxies: number;
  readonly maxUploads: number;
  readonly maxUploadsPerTenant: number;
  readonly maxTaskStarts: number;
}

/** How long and how large a request may be before anything of it is understood. */
export interface HttpServerSettings {
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
  readonly headersTimeoutMs: number;
  readonly bodyPace: { readonly windowMs: number; readonly minBytes: number };
}

/** Of checked variables. */
export function limitSettings(values: z.infer<z.ZodObject<typeof VARIABLES>>): {
  readonly limits: RequestLimitSettings;
  readonly server: HttpServerSettings;
} {
  return {
    limits: {
      requestsPerMinute: values.BATCHGATE_REQUESTS_PER_MINUTE,
      refusedKeysPerMinute: values.BATCHGATE_REFUSED_KEYS_PER_MINUTE,
      trustedProxies: values.BATCHGATE_TRUSTED_PROXIES,
      maxUploads: values.BATCHGATE_MAX_UPLOADS,
      maxUploadsPerTenant: values.BATCHGATE_MAX_UPLOADS_PER_TENANT,
      maxTaskStarts: values.BATCHGATE_MAX_TASK_STARTS,
    },
    server: {
      maxConnections: values.BATCHGATE_MAX_CONNECTIONS,
      maxHeaderBytes: values.BATCHGATE_MAX_HEADER_BYTES,
      headersTimeoutMs: values.BATCHGATE_HEADERS_TIMEOUT_MS,
      bodyPace: { windowMs: values.BATCHGATE_BODY_WINDOW_MS, minBytes: values.BATCHGATE_BODY_MIN_BYTES },
    },
  };
}
