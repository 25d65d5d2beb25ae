import type { ArtifactStore } from '../artifacts/store.ts';
import type { Database } from '../db/client.ts';
import type { IntakeSettings } from '../db/intake/intake-settings.ts';
import type { Recogniser } from '../documents/recogniser.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import type { DocumentLimits } from '../domain/document-facts.ts';
import type { Provider } from '../domain/provider.ts';
import type { Cipher } from '../encryption/cipher.ts';
import type { ProviderAdapters } from '../providers/provider-adapters.ts';
import type { WebhookVerifier } from '../providers/webhooks.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { JobWorkflows } from './job-workflows.ts';
import type { RequestLimits } from './limits/request-limits.ts';
import type { ScheduleClock } from './schedule-clock.ts';

/** What an operation may use. Built once, in `main.ts` or by a test. */
export interface ApiDependencies {
  readonly db: Database;
  /** What is known of providers, models and prices, before any tenant's overrides. */
  readonly catalogue: Catalogue;
  /** Seals what is stored of secrets. */
  readonly cipher: Cipher;
  /** Null where none is set. */
  readonly artifacts: ArtifactStore | null;
  readonly workflows: JobWorkflows;
  readonly scheduleClock: ScheduleClock;
  /** Hosts that items may be fetched from without TLS, and although their addresses are not public. */
  readonly allowedFetchHosts: ReadonlySet<string>;
  /** Of each provider whose events are taken; for any other the path does not exist. */
  readonly providerWebhooks: ReadonlyMap<Provider, WebhookVerifier>;
  /** Read from where a job's storage policy leaves its replies with the provider. */
  readonly providers: ProviderAdapters;
  readonly intake: IntakeSettings;
  /** What uploaded files may be, and what tells what they are. */
  readonly documents: { readonly limits: DocumentLimits; readonly recogniser: Recogniser };
  readonly limits: RequestLimits;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Where operators see workflows; null where there is no Web UI. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
}
