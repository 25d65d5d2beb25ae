import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerChangeSchedule } from './change-schedule.ts';
import { registerCreateSchedule } from './create-schedule.ts';
import { registerReadSchedules } from './read-schedules.ts';

/** `/v1/batch-schedules`: a tenant's recurring jobs. */
export function schedulesRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerCreateSchedule(app, dependencies);
  registerReadSchedules(app, dependencies);
  registerChangeSchedule(app, dependencies);
  return app;
}
