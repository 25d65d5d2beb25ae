import { setTimeout as delay } from 'node:timers/promises';
import { ownEnvironment } from '../local/own-environment.ts';
import { runCommandLine } from './command-line.ts';
import { COMMANDS } from './commands.ts';
import { programName } from './program-name.ts';
import { singleSignals } from './signals.ts';
import { createTerminal } from './terminal.ts';

// A reader that has seen enough, such as `head`, is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

const environment = ownEnvironment();
process.exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, {
  terminal: createTerminal(process.stdout, process.stderr, environment),
  standardInput: process.stdin,
  environment,
  program: programName(environment),
  fetch,
  signals: singleSignals(process, () => performance.now()),
  sleep: async (delayMs, signal) => {
    await delay(delayMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  },
  nowMs: () => Date.now(),
});
