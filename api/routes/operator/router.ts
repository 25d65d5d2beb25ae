import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerOperatorActs } from './acts.ts';
import { registerOperatorAdjustments } from './adjustments.ts';
import { registerOperatorArtifacts } from './artifacts.ts';
import { registerOperatorGetItem } from './get-item.ts';
import { registerOperatorGetJob } from './get-job.ts';
import { registerOperatorListFindings } from './list-findings.ts';
import { registerOperatorPollNow } from './poll-now.ts';
import { registerOperatorRefundItem } from './refund-item.ts';
import { registerOperatorRefundTask } from './refund-task.ts';
import { registerOperatorVerifyLedger } from './verify-ledger.ts';

/** `/v1/operator`: every tenant's jobs, for those who run the gateway. */
export function operatorRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerOperatorGetJob(app, dependencies);
  registerOperatorGetItem(app, dependencies);
  registerOperatorPollNow(app, dependencies);
  registerOperatorActs(app, dependencies);
  registerOperatorRefundItem(app, dependencies);
  registerOperatorRefundTask(app, dependencies);
  registerOperatorAdjustments(app, dependencies);
  registerOperatorVerifyLedger(app, dependencies);
  registerOperatorListFindings(app, dependencies);
  registerOperatorArtifacts(app, dependencies);
  return app;
}
