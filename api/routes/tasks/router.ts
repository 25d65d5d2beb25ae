import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { registerCancelTask } from './cancel-task.ts';
import { registerCreateTask } from './create-task.ts';
import { registerGetTask } from './get-task.ts';
import { registerReplayTaskWebhook } from './replay-task-webhook.ts';

/** `/v1/async/task`: one prompt each, queued and durable. */
export function tasksRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  registerCreateTask(app, dependencies);
  registerGetTask(app, dependencies);
  registerCancelTask(app, dependencies);
  registerReplayTaskWebhook(app, dependencies);
  return app;
}
