/** What is read of a report of vitest's JSON reporter. */
export interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  /** Skipped ones. */
  readonly numPendingTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

/** One line for several runs. A run without a report, and a file that failed before its first test, is one failure each. */
export function describeCounts(reports: readonly (VitestReport | null)[]): string {
  const passed = sum(reports, (report) => report?.numPassedTests ?? 0);
  const failed = sum(reports, (report) => (report === null ? 1 : report.numFailedTests + filesWithoutTests(report)));
  const skipped = sum(reports, (report) => report?.numPendingTests ?? 0);
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
}

function filesWithoutTests({ testResults }: VitestReport): number {
  return testResults.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0)
    .length;
}

function sum<Value>(values: readonly Value[], of: (value: Value) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}
