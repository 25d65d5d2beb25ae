import type { AuditEntry } from '../../contracts/audit-log.ts';
import { ADMIN_OPTIONS, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { readCount, readTime } from '../option-values.ts';
import { type Column, printJson, table, time } from '../output.ts';

const MAX_ROWS = 1_000;
const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: 'WHEN', cell: ({ at }) => time(at) },
  { title: 'ACT', cell: ({ act }) => act },
  { title: 'TENANT', cell: ({ tenant_id }) => tenant_id },
  { title: 'SUBJECT', cell: ({ subject }) => subject },
  { title: 'BY', cell: ({ actor }) => actor },
];
const OPTIONS = {
  tenant: { type: 'string', value: 'ID', help: 'only what concerns this tenant' },
  actor: { type: 'string', value: 'ID', help: 'only what this key did, or "gateway"' },
  act: { type: 'string', value: 'NAME', help: 'only this act, such as key.created' },
  subject: { type: 'string', value: 'ID', help: 'only what was done to this' },
  from: { type: 'string', value: 'TIME', help: 'from this time on' },
  to: { type: 'string', value: 'TIME', help: 'before this time' },
  limit: { type: 'string', value: 'N', help: `how many, at most ${MAX_ROWS} (100)` },
  ...ADMIN_OPTIONS,
} as const;

export const adminAuditCommand = defineCommand({
  name: 'admin audit',
  summary: 'show who did what, newest first',
  arguments: [],
  options: OPTIONS,
  examples: ['admin audit --tenant tenant_acme', 'admin audit --act key.created --from 2026-12-01T00:00:00Z'],
  async run({ values }, context) {
    const { tenant: tenant_id, actor, act, subject } = values;
    const limit = values.limit === undefined ? undefined : readCount('--limit', values.limit, 1, MAX_ROWS);
    const times = { ...readTime('from', '--from', values.from), ...readTime('to', '--to', values.to) };
    const query = { tenant_id, actor, act, subject, ...times, limit };
    const { data } = await connectAdmin(values, context).listAudit(query);
    const { out, err } = context.terminal;
    if (values.json) for (const entry of data) printJson(context, entry);
    else if (data.length === 0) err.write('There is no such entry.\n');
    else out.write(table(context, COLUMNS, data));
    return exitCode('ok');
  },
});
