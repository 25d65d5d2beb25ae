import type { Database } from '../db/client.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { IntakeSettings } from './intake/intake-settings.ts';
import type { JobWorkflows } from './job-workflows.ts';

/** What an operation may use. Built once, in `main.ts` or by a test. */
export interface ApiDependencies {
  readonly db: Database;
  readonly workflows: JobWorkflows;
  readonly intake: IntakeSettings;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Where operators see workflows; null where there is no Web UI. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
}
