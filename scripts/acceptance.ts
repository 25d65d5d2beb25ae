/**
 * Runs the acceptance suites: whole jobs against the whole stack, minutes each. `--short` runs one short case of each
 * suite (it is told so by BATCHGATE_ACCEPTANCE), `--list` names the suites; anything else goes to vitest.
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { childEnvironment } from '../config/env.ts';

const root = join(import.meta.dirname, '..');
const ENDING = '.acceptance.ts';

const given = process.argv.slice(2);
const own = ['--short', '--list'];
const isShort = given.includes('--short');
/** Of a suite in several files a short run takes the one named here. */
const SHORT_FILE: { readonly [folder: string]: string } = { 'field-reports': 'providers-expiry' };
const suites = globSync(`tests/acceptance/**/*${ENDING}`, { cwd: root }).sort().filter(isWanted);

if (suites.length === 0) fail('There is no suite in tests/acceptance.');
else if (given.includes('--list')) for (const suite of suites) console.log(basename(suite, ENDING));
else run(isShort ? 'short' : 'full');

function isWanted(suite: string): boolean {
  const chosen = SHORT_FILE[basename(dirname(suite))];
  return !isShort || chosen === undefined || basename(suite, ENDING) === chosen;
}

function run(length: 'short' | 'full'): void {
  console.log(`Acceptance, ${length}: ${suites.map((suite) => basename(suite, ENDING)).join(', ')}`);
  const vitest = join(root, 'node_modules', '.bin', 'vitest');
  const args = [
    vitest,
    'run',
    '--project',
    'acceptance',
    '--no-file-parallelism',
    ...(isShort ? suites : []),
    ...given.filter((argument) => !own.includes(argument)),
  ];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: childEnvironment({ BATCHGATE_ACCEPTANCE: length }),
  });
  // Ctrl-C reaches vitest by itself; a TERM from elsewhere does not.
  process.once('SIGTERM', () => child.kill('SIGTERM'));
  process.once('SIGINT', () => undefined);
  child.once('error', (error) => fail(error.message));
  child.once('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 1;
  });
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
