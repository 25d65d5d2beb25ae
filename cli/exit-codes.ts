/** What the exit code of every command tells a script. `help` prints these lines. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'done' },
  unsuccessful: {
    code: 1,
    meaning: 'the job did not end completed, a document failed, the dry run found something, or the ledger differs',
  },
  usage: { code: 2, meaning: 'the command line or the input file is at fault; nothing was submitted' },
  refused: { code: 3, meaning: 'the gateway refused' },
  unreachable: { code: 4, meaning: 'the gateway or the local stack cannot be reached, did not start, or had a fault' },
  interrupted: { code: 130, meaning: 'left by Ctrl-C; a submitted job goes on' },
} as const;

export type ExitName = keyof typeof EXIT_CODES;

export function exitCode(name: ExitName): number {
  return EXIT_CODES[name].code;
}
