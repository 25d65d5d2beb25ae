import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

const NOT_OURS = ['node_modules/**', 'generated/**', '.git/**', '.batchgate/**', 'coverage/**', 'dist/**'];

/** Files of the repository that match a pattern, with `/`, in order. */
export function listFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT, exclude: NOT_OURS, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(ROOT.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort();
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The rows of the first table below a heading of a Markdown file, cell by cell, without the backticks. */
export function readTable(path: string, heading: string): string[][] {
  const section = readText(path)
    .split(/^#+ /m)
    .find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${path} has no heading ${heading}`);
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}
