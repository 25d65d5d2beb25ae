/**
 * What Temporal's sandbox leaves as it is and what answers differently on another day, machine or locale. It patches
 * Date, Math.random, timers and weak references (@temporalio/workflow, global-overrides).
 */
const UNPATCHED = [
  /\bTemporal\./,
  /\bperformance\b/,
  /\bcrypto\b/,
  /\bIntl\b/,
  /\bprocess\b(?!ing)/,
  /\bglobalThis\b/,
  /\bset(?:Interval|Immediate)\(/,
  /\bfetch\(/,
  /\bimport\.meta\b/,
  /\.toLocale\w*\(/,
  /\.localeCompare\(/,
  /\.get(?:FullYear|Month|Date|Day|Hours|Minutes|TimezoneOffset)\(/,
];

/** Lines of a module that use any of these, comments apart. */
export function findUnpatched(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(?<!:)\/\/.*$/gm, '');
  return code.split('\n').filter((line) => UNPATCHED.some((pattern) => pattern.test(line)));
}
