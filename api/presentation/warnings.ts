import type { BatchJob } from '../../contracts/job.ts';
import type { JobRecord } from '../../db/job-view.ts';

type Warning = BatchJob['warnings'][number];

/** What the workers noted, and what the rows themselves show to be odd. */
export function jobWarnings(job: JobRecord): Warning[] {
  const noted = job.warnings.flatMap((warning) => (isWarning(warning) ? [warning] : []));
  if (job.unmatchedLines === 0) return noted;
  const message = `${job.unmatchedLines} result lines belong to no item of this job. They are kept for the operator and never charged.`;
  return [...noted, { code: 'unmatched_lines', message }];
}

function isWarning(warning: unknown): warning is Warning {
  return (
    typeof warning === 'object' &&
    warning !== null &&
    'code' in warning &&
    typeof warning.code === 'string' &&
    'message' in warning &&
    typeof warning.message === 'string'
  );
}
