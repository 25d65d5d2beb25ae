import { childEnvironment } from '../config/env.ts';
import type { Environment } from './stack-environment.ts';

/** This process's environment, for the stack and for the command line that starts it. */
export function ownEnvironment(): Environment {
  return childEnvironment({});
}
