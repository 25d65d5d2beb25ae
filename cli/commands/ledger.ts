import { type LedgerPage, LedgerQuery } from '../../contracts/ledger-entry.ts';
import type { LedgerVerification } from '../../contracts/operator-job.ts';
import { type Context, defineCommand, OPERATOR_OPTIONS, type OptionValues } from '../command.ts';
import { connectOperator, connectTenant } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { oneOf } from '../option-values.ts';
import { type Column, plural, printJson, table, time } from '../output.ts';

type Entry = LedgerPage['data'][number];

const ENTRIES: readonly Column<Entry>[] = [
  { title: 'TIME', cell: ({ created_at }) => time(created_at) },
  { title: 'EVENT', cell: ({ event }) => event },
  { title: 'ITEM', cell: ({ custom_id }) => custom_id, maxWidth: 40 },
  { title: 'AMOUNT', align: 'right', cell: ({ amount }) => amount },
  { title: 'CURRENCY', cell: ({ currency }) => currency },
  { title: 'CAUSE', cell: ({ cause }) => cause, maxWidth: 40 },
  { title: 'ACTOR', cell: ({ actor }) => actor, maxWidth: 40 },
];
const DIFFERENCES: readonly Column<LedgerVerification['differences'][number]>[] = [
  { title: 'SUBJECT', cell: ({ subject }) => subject },
  { title: 'CHECK', cell: ({ check }) => check },
  { title: 'FOUND', align: 'right', cell: ({ found }) => found },
  { title: 'EXPECTED', align: 'right', cell: ({ expected }) => expected },
];
const OPTIONS = {
  level: { type: 'string', value: 'LEVEL', help: 'job (what a person sees unless said), item, or all' },
  job: { type: 'string', value: 'JOB', help: 'with verify: this job alone' },
  ...OPERATOR_OPTIONS,
} as const;
const LEVELS = [...LedgerQuery.shape.level.unwrap().options, 'all'] as const;
const PAGE_SIZE = 1000;

export const ledgerCommand = defineCommand({
  name: 'ledger',
  summary: "show every event about a job's money, or verify that it all adds up",
  arguments: ['JOB|verify'],
  options: OPTIONS,
  details:
    '"ledger verify" computes every charge again from items and prices (operator); the exit code is 1 where anything differs. ' +
    'With --json each entry is one line, at both levels.',
  examples: [
    'ledger job_01j7zb8k3te9aabfm0z0e2d3k4',
    'ledger job_01j7zb8k3te9aabfm0z0e2d3k4 --level item',
    'ledger verify',
  ],
  run({ values, positionals: [what = ''] }, context) {
    if (what === 'verify') return verify(values, context);
    if (values.job !== undefined) throw usageError('--job goes with "ledger verify".', '--job');
    return list(what, values, context);
  },
});

async function list(jobId: string, values: OptionValues<typeof OPTIONS>, context: Context): Promise<number> {
  const level = oneOf('--level', values.level ?? (values.json ? 'all' : 'job'), LEVELS);
  const calls = connectTenant(values, context);
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { level: level === 'all' ? undefined : level, cursor, limit: PAGE_SIZE };
    const page = await calls.listLedger(jobId, query);
    if (values.json) for (const entry of page.data) printJson(context, entry);
    else if (page.data.length > 0) context.terminal.out.write(table(context, ENTRIES, inOrderOfTime(page.data)));
    cursor = page.next_cursor;
  }
  if (level === 'job' && !values.json) {
    context.terminal.err.write(`Entries of items: ${context.program} ledger ${jobId} --level item\n`);
  }
  return exitCode('ok');
}

function inOrderOfTime(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((left, right) => Date.parse(left.created_at) - Date.parse(right.created_at));
}

async function verify(values: OptionValues<typeof OPTIONS>, context: Context): Promise<number> {
  const { terminal } = context;
  const verification = await connectOperator(values, context).verifyLedger(values.job);
  const { ok, jobs, items, differences } = verification;
  if (values.json) printJson(context, verification);
  else if (ok) {
    const looked = `${plural(items, 'charge')} of ${plural(jobs, 'job')} computed again`;
    terminal.out.write(`${terminal.paint('green', 'everything adds up')}: ${looked}.\n`);
  } else {
    terminal.out.write(`${terminal.paint('red', plural(differences.length, 'difference'))}\n`);
    terminal.out.write(table(context, DIFFERENCES, differences));
  }
  return exitCode(ok ? 'ok' : 'unsuccessful');
}
