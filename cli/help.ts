import type { Command } from './command.ts';
import { EXIT_CODES } from './exit-codes.ts';

const WIDTH = 100;

/** What `help` alone prints. */
export function overview(commands: readonly Command[], program: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length), 'help [COMMAND]'.length);
  return [
    'Batchgate: batch jobs on AI APIs through one gateway.',
    '',
    `Usage: ${program} COMMAND [arguments] [options]`,
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    `  ${'help [COMMAND]'.padEnd(width)}  tell about a command, with examples`,
    `  ${'--version'.padEnd(width)}  print the version`,
    '',
    'With a local stack running, no setting is needed. Elsewhere set BATCHGATE_URL and BATCHGATE_KEY, or give --url and',
    '--key. --json makes any command speak JSON.',
    '',
    'Exit codes:',
    ...Object.values(EXIT_CODES).map(({ code, meaning }) => `  ${String(code).padEnd(3)}  ${meaning}`),
    '',
  ].join('\n');
}

/** What `help COMMAND` prints. */
export function commandHelp(command: Command, program: string): string {
  return command.topics === undefined ? ownHelp(command, program) : groupHelp(command, command.topics, program);
}

function groupHelp(group: Command, topics: readonly Command[], program: string): string {
  const width = Math.max(...topics.map(({ name }) => name.length));
  return [
    `${group.name}: ${group.summary}`,
    '',
    `Usage: ${program} ${group.name} TOPIC [arguments] [options]`,
    '',
    ...(group.details === undefined ? [] : [wrap(group.details, 0), '']),
    ...topics.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    `See: ${program} help ${topics[0]?.name ?? group.name}`,
    '',
    ...examplesOf(group, program),
  ].join('\n');
}

function ownHelp(command: Command, program: string): string {
  const options = Object.entries(command.options).map(([name, { type, value, help }]) => ({
    flag: type === 'string' ? `--${name} ${value ?? 'VALUE'}` : `--${name}`,
    help,
  }));
  const width = Math.max(0, ...options.map(({ flag }) => flag.length));
  return [
    `${command.name}: ${command.summary}`,
    '',
    `Usage: ${[program, command.name, ...command.arguments, '[options]'].join(' ')}`,
    '',
    ...(command.details === undefined ? [] : [wrap(command.details, 0), '']),
    'Options:',
    ...options.map(({ flag, help }) => `  ${flag.padEnd(width)}  ${wrap(help, width + 4)}`),
    '',
    ...examplesOf(command, program),
  ].join('\n');
}

function examplesOf({ examples }: Command, program: string): string[] {
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  return [title, ...examples.map((example) => `  ${program} ${example}`), ''];
}

/** Breaks each paragraph into lines of at most `WIDTH`, all but the first line indented. */
function wrap(text: string, indent: number): string {
  return text
    .split('\n')
    .map((paragraph) => wrapParagraph(paragraph, WIDTH - indent).join(`\n${' '.repeat(indent)}`))
    .join('\n');
}

function wrapParagraph(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of paragraph.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
