import { expect, test } from 'vitest';
import { describeCounts, type VitestReport } from './test-counts.ts';

function report(changes: Partial<VitestReport>): VitestReport {
  return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, testResults: [], ...changes };
}

test('adds up the runs', () => {
  const reports = [report({ numPassedTests: 3, numFailedTests: 1 }), report({ numPassedTests: 4 })];
  expect(describeCounts(reports)).toBe('7 passed, 1 failed');
});

test('tells of skipped tests only where there are some', () => {
  expect(describeCounts([report({ numPassedTests: 1, numPendingTests: 2 })])).toBe('1 passed, 0 failed, 2 skipped');
});

test('counts a run that left no report as a failure', () => {
  expect(describeCounts([report({ numPassedTests: 5 }), null])).toBe('5 passed, 1 failed');
});

test('counts a file that failed before its first test', () => {
  const testResults = [
    { status: 'failed', assertionResults: [] },
    { status: 'failed', assertionResults: [{}] },
    { status: 'passed', assertionResults: [{}] },
  ];
  expect(describeCounts([report({ numPassedTests: 1, numFailedTests: 1, testResults })])).toBe('1 passed, 2 failed');
});
