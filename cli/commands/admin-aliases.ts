import type { TenantAliases } from '../../contracts/model-alias.ts';
import { ADMIN_OPTIONS, type Context, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { readJsonFile } from '../json-file.ts';
import { oneOf } from '../option-values.ts';
import { type Column, printJson, table } from '../output.ts';

const ACTIONS = ['get', 'set'] as const;

interface AliasLine {
  readonly alias: string;
  readonly target: TenantAliases['aliases'][string][number];
}

const COLUMNS: readonly Column<AliasLine>[] = [
  { title: 'ALIAS', cell: ({ alias }) => alias, maxWidth: 40 },
  { title: 'TARGET', cell: ({ target }) => `${target.provider}/${target.model}` },
  { title: 'REGION', cell: ({ target }) => target.region },
  { title: 'WEIGHT', align: 'right', cell: ({ target }) => target.weight },
];

export const adminAliasesCommand = defineCommand({
  name: 'admin aliases',
  summary: "show or replace a tenant's names for models",
  arguments: ['ACTION', 'TENANT', '[FILE]'],
  options: ADMIN_OPTIONS,
  details:
    'ACTION is get or set. FILE is JSON with the whole map, {"fast":[{"provider":"openai","model":"gpt-5-mini"}]}, or what ' +
    '"get --json" printed; - is standard input. Targets are tried in their order.',
  examples: ['admin aliases get tenant_acme', 'admin aliases set tenant_acme aliases.json'],
  async run({ values, positionals: [given = '', tenantId = '', file] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    if (action === 'get') {
      if (file !== undefined) throw usageError('admin aliases get takes no FILE: it prints.', 'FILE');
      show(await connectAdmin(values, context).getAliases(tenantId), values.json, context);
      return exitCode('ok');
    }
    if (file === undefined) throw usageError('admin aliases set needs FILE, the whole map as JSON.', 'FILE');
    const aliases = withoutWrapping(await readJsonFile(file, context));
    const answer = await connectAdmin(values, context).setAliases(tenantId, aliases);
    show(answer, values.json, context);
    const { err, paintErr } = context.terminal;
    if (!values.json) {
      for (const { field, message } of answer.warnings)
        err.write(`${paintErr('yellow', 'warning:')} ${field}: ${message}\n`);
    }
    return exitCode('ok');
  },
});

/** In a bare map a value is a list, so that an object under `aliases` can only be the map itself. */
function withoutWrapping(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || !('aliases' in content)) return content;
  return Array.isArray(content.aliases) ? content : content.aliases;
}

function show(answer: TenantAliases, asJson: boolean | undefined, context: Context): void {
  const { out } = context.terminal;
  const lines = Object.entries(answer.aliases).flatMap(([alias, targets]) =>
    targets.map((target) => ({ alias, target })),
  );
  if (asJson) printJson(context, answer);
  else if (lines.length === 0) out.write(`${answer.tenant_id} has no aliases of its own.\n`);
  else out.write(table(context, COLUMNS, lines));
}
