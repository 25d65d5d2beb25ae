import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { defaultCacheDirectory } from '../../local/temporal-search.ts';

const run = promisify(execFile);
/** The fuzzer and everything it needs, each in one version. */
const REQUIREMENTS = join(import.meta.dirname, 'schemathesis.txt');
const HOOKS = join(import.meta.dirname, 'schemathesis-hooks.py');
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];
const PHASES = ['coverage', 'fuzzing', 'stateful'] as const;
/** How often a parameter is the id of something that is there. */
const KNOWN_SHARE = 0.7;
const INSTALL_MS = 5 * 60_000;

export interface Fuzz {
  /** What is fuzzed: an OpenAPI document, as a value. */
  readonly document: unknown;
  readonly url: string;
  /** The key of every call, and its id. */
  readonly key: string;
  readonly keyId: string;
  /** Values that are taken now and then for a path parameter of the name. */
  readonly known: { readonly [parameter: string]: readonly string[] };
  readonly phases: readonly (typeof PHASES)[number][];
  /** The most calls of an operation in a phase. */
  readonly examples: number;
  readonly seed: number;
  /** An empty folder for its files. */
  readonly folder: string;
}

/** Installs schemathesis into the user's cache, outside of the repository; resolves to its folder. */
export async function installSchemathesis(): Promise<string> {
  const directory = join(defaultCacheDirectory(process.env, homedir()), 'schemathesis-4.32.5');
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--no-deps', '--target', unfinished];
    await run('python3', ['-m', 'pip', 'install', ...options, '--requirement', REQUIREMENTS], { timeout: INSTALL_MS });
    if (!existsSync(directory)) renameSync(unfinished, directory);
    return directory;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Fuzzes to the end; resolves to the text that tells of every fault, empty where there is none. */
export async function runSchemathesis(directory: string, fuzz: Fuzz): Promise<string> {
  const [document, config] = [join(fuzz.folder, 'openapi.json'), join(fuzz.folder, 'schemathesis.toml')];
  await writeFile(document, JSON.stringify(fuzz.document));
  await writeFile(config, configOf(fuzz));
  const child = spawn('python3', ['-m', 'schemathesis.cli', '--config-file', config, 'run', document, '--no-color'], {
    cwd: fuzz.folder,
    env: {
      PATH: process.env['PATH'],
      HOME: fuzz.folder,
      PYTHONPATH: directory,
      PYTHONDONTWRITEBYTECODE: '1',
      FUZZ_KEY_ID: fuzz.keyId,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return (await ended) === 0 ? '' : `${output}${errors}`;
}

/** Of an answer its status, content type, headers and shape are checked; what it means is for other tests. */
function configOf({ url, key, known, phases, examples, seed }: Fuzz): string {
  const names = Object.keys(known);
  const lines = [
    `base-url = ${quote(url)}`,
    `hooks = ${quote(HOOKS)}`,
    `headers = { Authorization = ${quote(`Bearer ${key}`)} }`,
    `seed = ${seed}`,
    // Threads of CPython 3.11 count the recursion of `ast` together and end in a SystemError (python/cpython#106905).
    'workers = 1',
    'continue-on-failure = true',
    'suppress-health-check = ["all"]',
    '[generation]',
    `max-examples = ${examples}`,
    'allow-x00 = true',
    'no-shrink = true',
    'database = "none"',
    '[checks]',
    'enabled = false',
    ...CHECKS.map((check) => `${check}.enabled = true`),
    // Temporal's development server is too slow now and then; that nothing was done then is for other tests.
    'not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]',
    '[phases]',
    ...PHASES.map((phase) => `${phase}.enabled = ${phases.includes(phase)}`),
    'examples.enabled = false',
    ...names.map((name) => `[dictionaries.${name}]\nvalues = [${known[name]?.map(quote).join(', ')}]`),
    '[parameters]',
    ...names.map((name) => `"path.${name}" = { dictionary = "${name}", probability = ${KNOWN_SHARE} }`),
  ];
  return lines.join('\n');
}

/** A basic string of TOML. */
function quote(value: string): string {
  return JSON.stringify(value);
}
