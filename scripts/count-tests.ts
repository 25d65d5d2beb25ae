/** Adds up vitest's JSON reports, given as paths, to one line: `N passed, N failed`. A report that is not there counts as a failure. */
import { readFileSync } from 'node:fs';
import { describeCounts, type VitestReport } from './test-counts.ts';

console.log(describeCounts(process.argv.slice(2).map(readReport)));

function readReport(path: string): VitestReport | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
