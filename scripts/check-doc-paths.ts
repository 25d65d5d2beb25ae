/** Fails when a document cites a path, a heading or an npm script that does not exist. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkDocument, headingAnchors, type Repository } from './doc-paths.ts';

const root = join(import.meta.dirname, '..');
const IGNORED = ['node_modules/**', 'generated/**', '.batchgate/**', 'coverage/**', 'dist/**'];
/** Comments that send a reader to a document. */
const DOCUMENT = /\bdocs\/[\w./-]+\.md\b/g;

const repository: Repository = {
  exists: (path) => existsSync(join(root, path)),
  matches: (pattern) => globSync(pattern, { cwd: root }).length > 0,
  topNames: new Set(readdirSync(root)),
  scripts: new Set(Object.keys(JSON.parse(read('package.json')).scripts)),
  anchors: (path) => headingAnchors(read(path)),
};

const documents = list('**/*.md');
const sources = list('**/*.{ts,cjs,yml,yaml,prisma,sql}').filter((path) => !path.endsWith('.test.ts'));
const problems = [
  ...documents.flatMap((path) =>
    checkDocument(path, read(path), repository).map(({ line, message }) => `${path}:${line}: ${message}`),
  ),
  ...sources.flatMap((path) =>
    [...read(path).matchAll(DOCUMENT)]
      .filter(([document]) => !repository.exists(document))
      .map(([document]) => `${path}: ${document}: no such file`),
  ),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${documents.length} documents cite only what is there.`);

function list(pattern: string): string[] {
  return globSync(pattern, { cwd: root, exclude: IGNORED }).map((path) => path.replaceAll('\\', '/'));
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
