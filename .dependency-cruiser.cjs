/**
 * The import rule of docs/architecture.md, executable: folder → what it may import.
 * A folder not named on the command line is not checked, so `npm run imports` names every one.
 */
const TEST = '(\\.test\\.ts$|/testing/)';
const MAY_IMPORT = {
  domain: [],
  contracts: ['domain'],
  config: [],
  telemetry: [],
  encryption: ['domain'],
  outgoing: [],
  providers: ['domain'],
  db: ['domain', 'generated'],
  ledger: ['domain', 'db'],
  artifacts: ['domain', 'encryption'],
  documents: ['domain'],
  activities: ['domain', 'contracts', 'encryption', 'outgoing', 'providers', 'db', 'ledger', 'artifacts', 'documents'],
  workflows: ['domain'],
  worker: [
    'domain',
    'contracts',
    'config',
    'telemetry',
    'encryption',
    'outgoing',
    'providers',
    'db',
    'ledger',
    'artifacts',
    'documents',
    'activities',
    'workflows',
  ],
  api: [
    'domain',
    'contracts',
    'config',
    'telemetry',
    'encryption',
    'outgoing',
    'db',
    'ledger',
    'artifacts',
    'documents',
  ],
  cli: ['contracts', 'local'],
  simulators: [],
  examples: [],
};
const FOLDERS = [...Object.keys(MAY_IMPORT), 'local', 'generated', 'tests', 'scripts', 'bench'];
/** Single files of another folder that are its public door. */
const DOORS = {
  workflows: { types: ['^activities/interfaces\\.ts$'], values: [] },
  api: {
    types: [],
    values: [
      '^workflows/(messages|ids|task-queues|start-options)\\.ts$',
      '^providers/(webhooks|read-items|result-cursor|provider-adapters|registry|stored-credentials|environment-settings)\\.ts$',
    ],
  },
};

const folderRules = Object.entries(MAY_IMPORT).map(([from, allowed]) => {
  const others = FOLDERS.filter((folder) => folder !== from && !allowed.includes(folder));
  const door = DOORS[from] ?? { types: [], values: [] };
  return {
    name: `${from}-imports`,
    severity: 'error',
    comment: `${from} may import: ${allowed.join(', ') || 'nothing of ours'}`,
    from: { path: `^${from}/`, pathNot: TEST },
    to: { path: `^(${others.join('|')})/`, pathNot: [...door.types, ...door.values] },
  };
});
const typeOnlyRules = Object.entries(DOORS)
  .filter(([, door]) => door.types.length > 0)
  .map(([from, door]) => ({
    name: `${from}-types-only`,
    severity: 'error',
    from: { path: `^${from}/`, pathNot: TEST },
    to: { path: door.types, pathNot: door.values, dependencyTypesNot: ['type-only'] },
  }));

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-needs-no-package',
      severity: 'error',
      from: { path: '^domain/', pathNot: TEST },
      to: { pathNot: '^domain/' },
    },
    {
      name: 'workflows-need-temporal-only',
      severity: 'error',
      from: { path: '^workflows/', pathNot: TEST },
      to: { pathNot: ['^(workflows|domain|activities)/', 'node_modules/@temporalio/(workflow|common)/'] },
    },
    {
      name: 'operations-know-no-http',
      severity: 'error',
      from: { path: '^api/operations/', pathNot: TEST },
      to: { path: ['node_modules/(hono|@hono)/', '^api/(routes|middleware)/'] },
    },
    {
      name: 'adapters-are-strangers',
      severity: 'error',
      from: { path: '^(providers|simulators)/([^/]+)/' },
      to: { path: '^(providers|simulators)/[^/]+/', pathNot: '^$1/$2/' },
    },
    ...folderRules,
    ...typeOnlyRules,
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^generated/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
