import { expect, test } from 'vitest';
import { TASK_CODE_OF, TASK_REFUSAL_CODES } from '../../contracts/task-error.ts';
import { FAILURE_CODES, failureClassOf, retryRuleOfCode } from '../../domain/failure.ts';
import { ERROR_CODES, STATUS_OF } from '../../domain/gateway-error.ts';
import { canMoveItem, ITEM_STATES, isItemTerminal } from '../../domain/item-state.ts';
import { canMove, isTerminal, JOB_STATES } from '../../domain/job-state.ts';
import { LEDGER_EVENTS } from '../../domain/ledger-entry.ts';
import { canMoveShard, SHARD_STATES } from '../../domain/shard-state.ts';
import { TASK_ERROR_CODES } from '../../domain/task-attempt.ts';
import { listFiles, readTable, readText } from './repository.ts';

const STATES = 'docs/states.md';
const ERRORS = 'docs/errors.md';

function column(path: string, heading: string, index: number): string[] {
  return readTable(path, heading).map((row) => row[index] ?? '');
}

function movesOf<State extends string>(states: readonly State[], canBecome: (from: State, to: State) => boolean) {
  return states.map((from) => [from, states.filter((to) => canBecome(from, to)).join(', ')]);
}

test.each([
  ['Job states', movesOf(JOB_STATES, canMove)],
  ['Item states', movesOf(ITEM_STATES, canMoveItem)],
  ['Shard states', movesOf(SHARD_STATES, canMoveShard)],
])('the table of %s is the machine in the code', (heading, moves) => {
  expect(readTable(STATES, heading).map(([state, , becomes]) => [state, becomes])).toEqual(moves);
});

test('states that end a job or an item become nothing', () => {
  const ends = (heading: string) =>
    readTable(STATES, heading)
      .filter(([, , becomes]) => becomes === '')
      .map(([state]) => state);
  expect(ends('Job states')).toEqual(JOB_STATES.filter(isTerminal));
  expect(ends('Item states')).toEqual(ITEM_STATES.filter(isItemTerminal));
});

test('every error code is listed with its status, a meaning and what to do', () => {
  const rows = readTable(ERRORS, 'Error codes');
  expect(rows.map(([code, status]) => [code, Number(status)])).toEqual(
    ERROR_CODES.map((code) => [code, STATUS_OF[code]]),
  );
  expect(rows.filter(([, , meaning, fix]) => !meaning || !fix)).toEqual([]);
});

test('every refusal of the task surface is listed with its status, and every code of a failed task with its meaning', () => {
  const text = readText('docs/tasks.md');
  const [refusals = '', failures = ''] = text.slice(text.indexOf('## Refusals')).split('A task that was accepted');
  const codesIn = (part: string) =>
    [...part.matchAll(/^\| (`[A-Z_`, ]+`) \|/gm)].flatMap(([, cell = '']) => cell.match(/[A-Z_]+/g) ?? []);
  expect(codesIn(refusals).toSorted()).toEqual(TASK_REFUSAL_CODES.toSorted());
  expect(codesIn(failures).toSorted()).toEqual(TASK_ERROR_CODES.toSorted());
  const statuses = Map.groupBy(ERROR_CODES, (code) => TASK_CODE_OF[code]);
  for (const [, cell = '', told = ''] of refusals.matchAll(/^\| (`[A-Z_`, ]+`) \| ([\d, ]+) \|/gm)) {
    for (const code of TASK_REFUSAL_CODES.filter((each) => cell.includes(`\`${each}\``))) {
      expect([code, (statuses.get(code) ?? []).some((ours) => told.includes(String(STATUS_OF[ours])))]).toEqual([
        code,
        true,
      ]);
    }
  }
});

test('every code of a failed item is listed with its class and who may retry it', () => {
  const rows = readTable(ERRORS, 'Codes of items');
  expect(rows.map(([code, failureClass, rule]) => [code, failureClass, rule])).toEqual(
    FAILURE_CODES.map((code) => [code, failureClassOf(code), retryRuleOfCode(code).replaceAll('_', ' ')]),
  );
});

test('every ledger event of a batch is explained', () => {
  const events = LEDGER_EVENTS.filter((event) => event.startsWith('batch.'));
  expect(column('docs/money.md', 'Ledger events', 0).toSorted()).toEqual(events.toSorted());
});

test('every reason to wait is explained to operators', () => {
  const source = readText('activities/interfaces.ts').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const union = /export type WaitingReason =([^;]+);/.exec(source)?.[1] ?? '';
  const reasons = [...union.matchAll(/'(\w+)'/g)].map(([, reason]) => reason);
  expect(reasons).not.toEqual([]);
  expect(column('docs/operations.md', 'What a job waits for', 0)).toEqual(reasons);
});

test('every decision is in the index, numbered without a gap, and has its four parts', () => {
  const decisions = listFiles('docs/decisions/[0-9]*.md').map((path) => path.replace('docs/decisions/', ''));
  expect(decisions.map((name) => Number(name.slice(0, 4)))).toEqual(decisions.map((_, index) => index + 1));
  const index = readText('docs/decisions/README.md');
  expect(decisions.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  for (const name of decisions) {
    const headings = [...readText(`docs/decisions/${name}`).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings, name).toEqual(['Context', 'Decision', 'Consequences', 'Confirmation']);
  }
});

test('every setting of the gateway is told of', () => {
  const told = readText('.env.example');
  const inDeployment = [...readText('docs/deployment.md').matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name = '']) => name);
  const ours = inDeployment.filter((name) => name.startsWith('BATCHGATE_'));
  expect(ours).not.toEqual([]);
  expect(ours.filter((name) => !told.includes(`${name}=`))).toEqual([]);
});
