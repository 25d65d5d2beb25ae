import { DefaultLogger, Runtime } from '@temporalio/worker';

export const quietLogger = new DefaultLogger('ERROR');

let installed = false;

/** Keeps what tests provoke, and webpack's reports, out of their output. Before the first worker of the process. */
export function installQuietRuntime(): void {
  if (installed) return;
  installed = true;
  const logging = { forward: {}, filter: 'ERROR' };
  Runtime.install({ logger: quietLogger, telemetryOptions: { logging } });
}
