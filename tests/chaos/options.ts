import { parseArgs } from 'node:util';

export interface ChaosOptions {
  /** In the order in which they are played. */
  readonly seeds: readonly number[];
  /** File that remembers which seeds have passed; null to remember none. */
  readonly resume: string | null;
  /** Keeps the logs of the processes in a folder that is named at the end. */
  readonly keepLogs: boolean;
}

const DEFAULT_SEEDS = 10;

/** Of `--seeds COUNT --from SEED`, or `--seed SEED`, with `--resume FILE` and `--keep-logs`. Throws one sentence. */
export function parseOptions(args: readonly string[]): ChaosOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      from: { type: 'string' },
      seed: { type: 'string' },
      resume: { type: 'string' },
      'keep-logs': { type: 'boolean', default: false },
    },
  });
  const rest = { resume: values.resume ?? null, keepLogs: values['keep-logs'] };
  if (values.seed !== undefined) {
    if (values.seeds !== undefined || values.from !== undefined)
      throw new Error('--seed names one seed; --seeds and --from name many');
    return { seeds: [wholeNumber('seed', values.seed)], ...rest };
  }
  const count = wholeNumber('seeds', values.seeds ?? String(DEFAULT_SEEDS));
  const from = wholeNumber('from', values.from ?? '1');
  return { seeds: Array.from({ length: count }, (_, index) => from + index), ...rest };
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} is a whole number from 1, not "${text}"`);
  return Number(text);
}
