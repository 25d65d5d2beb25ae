import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TEMPORAL_VARIABLES, VARIABLES } from '../../config/variables.ts';
import { WORKER_NODE_FLAGS } from '../../worker/node-flags.ts';
import { listFiles, ROOT, readText } from './repository.ts';

const OURS = ['migrate', 'api', 'worker', 'simulator'];

/** The services of the compose file, each with its own lines. */
function readServices(): Map<string, string> {
  const text = readText('docker-compose.yml')
    .replace(/^[\s\S]*?^services:\n/m, '')
    .replace(/^volumes:[\s\S]*$/m, '');
  const parts = text.split(/^ {2}(?=[\w-]+:\n)/m).slice(1);
  return new Map(parts.map((part) => [part.slice(0, part.indexOf(':')), part]));
}

const services = readServices();

function linesOf(pattern: RegExp): [service: string, match: RegExpMatchArray][] {
  return [...services].flatMap(([name, text]) =>
    [...text.matchAll(pattern)].map((match) => [name, match] as const),
  ) as [string, RegExpMatchArray][];
}

test('the compose file has our services', () => {
  expect([...services.keys()]).toEqual(expect.arrayContaining([...OURS, 'postgres', 'temporal', 'temporal-ui']));
});

test('each of our services says how its image is built, so that none is looked for in a registry', () => {
  expect(readText('docker-compose.yml')).toMatch(/^x-image: &image\n {2}build: \.\n {2}image: batchgate$/m);
  expect(OURS.filter((name) => !services.get(name)?.includes('<<: *image'))).toEqual([]);
});

test('our services are given only variables that the gateway reads', () => {
  const known = new Set<string>([...Object.keys(VARIABLES), ...TEMPORAL_VARIABLES]);
  const shared = readText('docker-compose.yml')
    .replace(/^services:[\s\S]*/m, '')
    .replace(/x-temporal-store:[\s\S]*/, '');
  const given = OURS.flatMap((name) => [...(services.get(name) ?? '').matchAll(/^ {6}([A-Z][A-Z_]+): /gm)]);
  const names = [...given, ...shared.matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name = '']) => name);
  expect(names).toEqual(
    expect.arrayContaining(['DATABASE_URL', 'TEMPORAL_ADDRESS', 'BATCHGATE_PORT', 'OPENAI_API_KEY']),
  );
  expect(names.filter((name) => !known.has(name))).toEqual([]);
});

test('the api and the worker are given the keys of every provider', () => {
  for (const name of ['api', 'worker']) expect(services.get(name)).toContain('*providers]');
  const [, shared = ''] = /^x-providers: &providers\n((?: {2}.*\n)+)/m.exec(readText('docker-compose.yml')) ?? [];
  for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY']) expect(shared).toContain(`  ${name}: `);
});

test('every file that a service runs or mounts is there', () => {
  const run = linesOf(/([\w-]+\/[\w-]+\.ts)/g).map(([, match]) => match[1] ?? '');
  const mounted = linesOf(/- \.\/([^:]+):/g).map(([, match]) => match[1] ?? '');
  expect(run).toEqual(expect.arrayContaining(['api/main.ts', 'worker/main.ts', 'scripts/migrate.ts']));
  expect([...run, ...mounted].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('a worker is started with its flags, wherever that is said', () => {
  const start = ['node', ...WORKER_NODE_FLAGS, 'worker/main.ts'];
  expect(services.get('worker')).toContain(`command: [${start.map((word) => `"${word}"`).join(', ')}]`);
  expect(readText('package.json')).toContain(`"start:worker": "${start.join(' ')}"`);
  expect(readText('docs/deployment.md')).toContain(`docker run batchgate ${start.join(' ')}\n`);
});

test('every port is bound to this machine alone', () => {
  const ports = linesOf(/^ {6}- "([^"]+:\d+)"$/gm).map(([, match]) => match[1] ?? '');
  expect(ports.length).toBeGreaterThan(4);
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
});

test('a service waits only for what can come true', () => {
  const waits = linesOf(/^ {6}([\w-]+):\n {8}condition: (\w+)/gm);
  expect(waits.length).toBeGreaterThan(6);
  const vain = waits.filter(([, match]) => {
    const awaited = services.get(match[1] ?? '');
    if (awaited === undefined) return true;
    return match[2] === 'service_healthy'
      ? !awaited.includes('healthcheck:')
      : awaited.includes('restart: unless-stopped');
  });
  expect(vain.map(([name, match]) => `${name} waits for ${match[1]}`)).toEqual([]);
});

test('fairness between tenants is switched on', () => {
  expect(services.get('temporal')).toContain('./deploy/temporal-dynamic-config.yaml:');
  expect(readText('deploy/temporal-dynamic-config.yaml')).toMatch(/^matching\.enableFairness:\n {2}- value: true$/m);
});

test('the image has the pinned Node, on Debian, and does not run as root', () => {
  const dockerfile = readText('Dockerfile');
  const version = readText('.nvmrc').trim();
  expect(dockerfile).toContain(`node:${version}-bookworm-slim`);
  expect(dockerfile.lastIndexOf('USER node')).toBeGreaterThan(dockerfile.lastIndexOf('RUN '));
});

/** They use the tests' harness and never run in an image. */
const DEVELOPER_SCRIPTS = ['scripts/update-catalogue.ts', 'scripts/record-histories.ts'];

test('the image is given every folder that the processes import from', () => {
  const allowed = [...readText('.dockerignore').matchAll(/^!([\w-]+)$/gm)].map(([, name]) => name);
  const sources = listFiles(
    '{api,worker,simulators,scripts,activities,workflows,providers,db,ledger,cli}/**/*.ts',
  ).filter((path) => !path.endsWith('.test.ts') && !DEVELOPER_SCRIPTS.includes(path));
  const imported = sources.flatMap((path) =>
    [...readText(path).matchAll(/from '((?:\.\.\/)+)([\w-]+)\//g)]
      .filter(([, up = '']) => up.length / 3 === path.split('/').length - 1)
      .map(([, , folder]) => folder),
  );
  const needed = new Set(
    [...sources.map((path) => path.split('/')[0]), ...imported].filter((name) => name !== 'generated'),
  );
  expect([...needed].filter((folder) => !allowed.includes(folder))).toEqual([]);
});
