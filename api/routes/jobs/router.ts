import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerAppendItems } from './append-items.ts';
import { registerCancelJob } from './cancel-job.ts';
import { registerCreateJob } from './create-job.ts';
import { registerDeleteJob } from './delete-job.ts';
import { registerExportUsage } from './export-usage.ts';
import { registerGetItem } from './get-item.ts';
import { registerGetQuote } from './get-quote.ts';
import { registerGetStatus } from './get-status.ts';
import { registerGetStorage } from './get-storage.ts';
import { registerListJobs } from './list-jobs.ts';
import { registerListLedger } from './list-ledger.ts';
import { registerListResults } from './list-results.ts';
import { registerRetryJob } from './retry-job.ts';
import { registerSubmitJob } from './submit-job.ts';
import { registerUploadManifest } from './upload-manifest.ts';
import { registerValidateJob } from './validate-job.ts';

/** `/v1/batch-jobs`: a tenant's batch jobs in the gateway's own shape. */
export function jobsRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerCreateJob(app, dependencies);
  registerListJobs(app, dependencies);
  registerGetStatus(app, dependencies);
  registerDeleteJob(app, dependencies);
  registerAppendItems(app, dependencies);
  registerUploadManifest(app, dependencies);
  registerValidateJob(app, dependencies);
  registerSubmitJob(app, dependencies);
  registerCancelJob(app, dependencies);
  registerRetryJob(app, dependencies);
  registerListResults(app, dependencies);
  registerGetItem(app, dependencies);
  registerGetQuote(app, dependencies);
  registerGetStorage(app, dependencies);
  registerListLedger(app, dependencies);
  registerExportUsage(app, dependencies);
  return app;
}
