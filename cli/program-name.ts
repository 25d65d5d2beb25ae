import type { Environment } from '../local/stack-environment.ts';

/** How a person types a further command, given how npm says this one was started. */
export function programName(environment: Environment): string {
  const script = environment['npm_lifecycle_event'];
  if (script === undefined) return 'batchgate';
  return script === 'npx' ? 'npx batchgate' : 'npm run batchgate --';
}
