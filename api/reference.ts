import { createLogger } from '../telemetry/logger.ts';
import { createApp } from './app.ts';
import type { ApiDependencies } from './dependencies.ts';
import { openApiDocument } from './openapi.ts';

/** Routes are declared, never called, so nothing of these is asked for. */
const UNUSED: ApiDependencies = {
  get db(): never {
    throw unused();
  },
  get catalogue(): never {
    throw unused();
  },
  get cipher(): never {
    throw unused();
  },
  get artifacts(): never {
    throw unused();
  },
  get workflows(): never {
    throw unused();
  },
  get scheduleClock(): never {
    throw unused();
  },
  get allowedFetchHosts(): never {
    throw unused();
  },
  get providers(): never {
    throw unused();
  },
  get providerWebhooks(): never {
    throw unused();
  },
  get intake(): never {
    throw unused();
  },
  get documents(): never {
    throw unused();
  },
  get limits(): never {
    throw unused();
  },
  logger: createLogger({ level: 'silent', service: 'api' }),
  now: () => new Date(),
  temporalUi: null,
};

function unused(): Error {
  return new Error('the reference answers no calls');
}

/** The OpenAPI document as it is published, without a gateway to ask. */
export function referenceDocument(): ReturnType<typeof openApiDocument> {
  return openApiDocument(createApp(UNUSED));
}
