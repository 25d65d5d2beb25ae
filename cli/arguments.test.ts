import { expect, test } from 'vitest';
import { readArguments } from './arguments.ts';
import { defineCommand } from './command.ts';

const command = defineCommand({
  name: 'fetch',
  summary: '',
  arguments: ['JOB', '[FILE]'],
  options: {
    out: { type: 'string', value: 'FILE', help: '' },
    metadata: { type: 'string', multiple: true, help: '' },
    watch: { type: 'boolean', help: '' },
  },
  examples: [],
  run: async () => 0,
});

test('reads options and arguments in any order', () => {
  expect(
    readArguments(command, ['--out=a', 'job', '--metadata', 'x=1', '--no-watch', '--metadata', 'y=2', 'file']),
  ).toEqual({
    values: { out: 'a', metadata: ['x=1', 'y=2'], watch: false },
    positionals: ['job', 'file'],
  });
});

test('takes everything after -- for arguments', () => {
  expect(readArguments(command, ['--', '--job']).positionals).toEqual(['--job']);
});

test.each([
  [[], 'fetch needs JOB: fetch JOB [FILE] [options]'],
  [['a', 'b', 'c'], 'fetch takes no further argument "c"'],
  [['a', '--otu', 'x'], 'fetch has no option --otu. Did you mean --out?'],
  [['a', '--zzzzzz'], 'fetch has no option --zzzzzz. See: help fetch.'],
  [['a', '-x'], 'fetch has no option -x.'],
  [['a', '--out'], '--out needs a value: --out FILE.'],
  [['a', '--out', '--watch'], '--out needs a value: --out FILE. One that starts with a dash is written --out=VALUE.'],
  [['a', '--watch=yes'], '--watch takes no value.'],
  [['a', '--out', ''], '--out is empty.'],
  [['a', '--metadata', 'x', '--metadata='], '--metadata is empty.'],
  [[''], 'fetch needs JOB, and it is empty'],
])('refuses %j', (args, message) => {
  expect(() => readArguments(command, args)).toThrow(message);
});
