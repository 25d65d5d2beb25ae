import type { Findings } from './findings.ts';

/** A member that has to be text and counts as input. */
export function inspectText(value: unknown, path: string, findings: Findings): void {
  if (typeof value === 'string') findings.text(value);
  else findings.problem(path, 'must be a string');
}
