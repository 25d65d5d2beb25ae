import { expect, test } from 'vitest';
import { defineCommand, JSON_OPTION } from './command.ts';
import { COMMANDS } from './commands.ts';
import { runCli } from './testing/run-cli.ts';

test.each([['help'], ['--help'], ['-h']])('%s lists every command and the exit codes', async (word) => {
  const { code, out } = await runCli([word]);
  expect(code).toBe(0);
  for (const { name, summary } of COMMANDS) expect(out).toContain(`  ${name.padEnd(14)}  ${summary}`);
  expect(out).toContain('130  left by Ctrl-C');
});

test.each(COMMANDS.map(({ name }) => name))(
  '%s tells about itself, with its options and examples that can be read',
  async (name) => {
    const { out } = await runCli(['help', name]);
    expect((await runCli([name, '--help'])).out).toBe(out);
    const command = COMMANDS.find((candidate) => candidate.name === name);
    for (const option of Object.keys(command?.options ?? {})) expect(out).toContain(`  --${option}`);
    for (const example of command?.examples ?? []) {
      expect(out).toContain(`  batchgate ${example}\n`);
      expect(example.split(' ')[0]).toBe(name);
    }
  },
);

test('no line of the help is wider than a terminal, examples apart', async () => {
  for (const name of ['', ...COMMANDS.map((command) => command.name)]) {
    const { out } = await runCli(['help', ...(name === '' ? [] : [name])]);
    const lines = out.split('Example')[0]?.split('\n') ?? [];
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  }
});

test('prints the version', async () => {
  expect(await runCli(['--version'])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^batchgate \d+\.\d+\.\d+ \(Node 26\./),
  });
});

test('says how to use it where no command is given', async () => {
  const { code, out, err } = await runCli([]);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain('Usage: batchgate COMMAND');
});

test.each([
  [['runn'], 'error: There is no command runn. Did you mean run?\n'],
  [['xyzzy'], 'error: There is no command xyzzy. See: help.\n'],
  [['--json'], '{"error":"usage","message":"The command comes first, not --json. See: help.","exit_code":2}\n'],
  [['help', 'runn'], 'error: There is no command runn. Did you mean run?\n'],
  [
    ['status', '--json'],
    '{"error":"usage","message":"status needs JOB: status JOB [options]","field":"JOB","exit_code":2}\n',
  ],
])('%j is wrong usage', async (args, err) => {
  expect(await runCli(args)).toEqual({ code: 2, out: '', err });
});

test('what nobody expected is told in a line and ends as a fault', async () => {
  const boom = defineCommand({
    name: 'boom',
    summary: '',
    arguments: [],
    options: JSON_OPTION,
    examples: [],
    run: async () => {
      throw new Error('disk full');
    },
  });
  expect(await runCli(['boom'], { commands: [boom] })).toEqual({ code: 4, out: '', err: 'error: disk full\n' });
  const { err } = await runCli(['boom', '--json'], { commands: [boom] });
  expect(JSON.parse(err)).toEqual({ error: 'internal_error', message: 'disk full', exit_code: 4 });
});
