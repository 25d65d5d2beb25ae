import type { Project } from '../../contracts/account.ts';
import { ADMIN_OPTIONS, defineCommand } from '../command.ts';
import { connectAdmin } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { requireOption } from '../identity-actions.ts';
import { oneOf } from '../option-values.ts';
import { type Column, printJson, table, time } from '../output.ts';
import { readAll, requireOperand } from '../override-actions.ts';

const ACTIONS = ['list', 'create', 'show', 'rename'] as const;
const COLUMNS: readonly Column<Project>[] = [
  { title: 'ID', cell: ({ project_id }) => project_id },
  { title: 'NAME', cell: ({ name }) => name, maxWidth: 40 },
  { title: 'CREATED', cell: ({ created_at }) => time(created_at) },
];
const OPTIONS = {
  name: { type: 'string', value: 'TEXT', help: 'create, rename: what people call it' },
  ...ADMIN_OPTIONS,
} as const;

export const adminProjectsCommand = defineCommand({
  name: 'admin projects',
  summary: 'list, create, show or rename the projects of a tenant',
  arguments: ['ACTION', 'TENANT', '[ID]'],
  options: OPTIONS,
  details: 'ACTION is list, create [ID], show ID or rename ID. Without ID, create makes one.',
  examples: ['admin projects create tenant_acme web --name Web', 'admin projects list tenant_acme'],
  async run({ values, positionals: [given = '', tenantId = '', operand] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    const calls = connectAdmin(values, context);
    let projects: readonly Project[];
    if (action === 'list') {
      requireOperand('admin projects', action, null, operand);
      projects = await readAll((query) => calls.listProjects(tenantId, query), {});
    } else if (action === 'create') {
      projects = [await calls.createProject(tenantId, { project_id: operand, name: requireOption(values, 'name') })];
    } else {
      const id = requireOperand('admin projects', action, 'ID', operand);
      projects = [
        action === 'show'
          ? await calls.getProject(tenantId, id)
          : await calls.renameProject(tenantId, id, requireOption(values, 'name')),
      ];
    }
    if (values.json) for (const project of projects) printJson(context, project);
    else context.terminal.out.write(table(context, COLUMNS, projects));
    return exitCode('ok');
  },
});
