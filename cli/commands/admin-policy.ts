import { ADMIN_OPTIONS, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { type Column, printJson, table } from '../output.ts';

interface Member {
  readonly name: string;
  readonly value: unknown;
  readonly byDefault: unknown;
}

const COLUMNS: readonly Column<Member>[] = [
  { title: 'MEMBER', cell: ({ name }) => name },
  { title: 'VALUE', cell: ({ value }) => String(value) },
  { title: 'DEFAULT', cell: ({ byDefault }) => String(byDefault) },
];
const OPTIONS = {
  set: { type: 'string', multiple: true, value: 'MEMBER=VALUE', help: 'a member to change; may be repeated' },
  ...ADMIN_OPTIONS,
} as const;

export const adminPolicyCommand = defineCommand({
  name: 'admin policy',
  summary: 'show or change what a tenant is allowed and how its content is kept',
  arguments: ['TENANT'],
  options: OPTIONS,
  details: 'VALUE is a number, true, false, null or a word. Times are in milliseconds.',
  examples: ['admin policy tenant_acme', 'admin policy tenant_acme --set storage=hashes --set max_drafts=50'],
  async run({ values, positionals: [tenantId = ''] }, context) {
    const change = Object.fromEntries((values.set ?? []).map(readMember));
    const calls = connectAdmin(values, context);
    const isChange = Object.keys(change).length > 0;
    const answer = isChange ? await calls.updatePolicy(tenantId, change) : await calls.getPolicy(tenantId);
    const defaults: Readonly<Record<string, unknown>> = answer.defaults;
    const members = Object.entries(answer.policy).map(([name, value]) => ({ name, value, byDefault: defaults[name] }));
    if (values.json) printJson(context, answer);
    else context.terminal.out.write(table(context, COLUMNS, members));
    return exitCode('ok');
  },
});

function readMember(given: string): [string, unknown] {
  const equals = given.indexOf('=');
  if (equals < 1) throw usageError(`--set must be MEMBER=VALUE, not "${given}".`, '--set');
  return [given.slice(0, equals), readValue(given.slice(equals + 1))];
}

function readValue(text: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  const known = new Map<string, unknown>([
    ['true', true],
    ['false', false],
    ['null', null],
  ]);
  return known.has(text) ? known.get(text) : text;
}
