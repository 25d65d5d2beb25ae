import { readArguments } from './arguments.ts';
import { closest } from './closest.ts';
import type { Command, Context } from './command.ts';
import { CommandError, describeError, errorJson, usageError } from './errors.ts';
import { exitCode } from './exit-codes.ts';
import { commandHelp, overview } from './help.ts';
import { VERSION } from './version.ts';

/** Runs the command that the arguments name and resolves to the exit code. Errors are told on standard error. */
export async function runCommandLine(
  args: readonly string[],
  commands: readonly Command[],
  context: Context,
): Promise<number> {
  try {
    return await dispatch(args, commands, context);
  } catch (error) {
    const told = error instanceof CommandError ? error : unexpected(error);
    const { err, paintErr } = context.terminal;
    if (asksForJson(args)) err.write(`${errorJson(told)}\n`);
    else err.write(`${paintErr('red', 'error:')} ${describeError(told)}\n`);
    return exitCode(told.exit);
  }
}

async function dispatch(args: readonly string[], commands: readonly Command[], context: Context): Promise<number> {
  const { terminal, program } = context;
  const [name, ...rest] = args;
  if (name === '--version' || name === 'version') {
    terminal.out.write(`batchgate ${VERSION} (Node ${process.versions.node})\n`);
    return exitCode('ok');
  }
  if (name === undefined) {
    terminal.err.write(overview(commands, program));
    return exitCode('usage');
  }
  if (HELP.includes(name)) {
    const words = rest.filter((word) => !word.startsWith('-'));
    const text =
      words.length === 0 ? overview(commands, program) : commandHelp(locate(words, commands).command, program);
    terminal.out.write(text);
    return exitCode('ok');
  }
  const { command, given } = locate(args, commands);
  if (asksForHelp(given)) {
    terminal.out.write(commandHelp(command, program));
    return exitCode('ok');
  }
  return command.run(readArguments(command, given), context);
}

/** The command that the first words name, and the words that follow. */
function locate(
  words: readonly string[],
  commands: readonly Command[],
): { readonly command: Command; readonly given: readonly string[] } {
  const [name = '', ...given] = words;
  const command = find(name, commands);
  const names = given[0] !== undefined && !given[0].startsWith('-');
  return names && command.topics !== undefined ? locate(given, command.topics) : { command, given };
}

const HELP = ['help', '--help', '-h'];

function asksForHelp(args: readonly string[]): boolean {
  return beforeTerminator(args).some((word) => word === '--help' || word === '-h');
}

/** Also where the arguments cannot be read, so that a script gets the JSON it asked for. */
function asksForJson(args: readonly string[]): boolean {
  return beforeTerminator(args).includes('--json');
}

function beforeTerminator(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end === -1 ? args : args.slice(0, end);
}

function find(name: string, commands: readonly Command[]): Command {
  const command = commands.find((candidate) => wordOf(candidate) === name);
  if (command !== undefined) return command;
  const meant = closest(name, commands.map(wordOf));
  const hint = meant === null ? 'See: help.' : `Did you mean ${meant}?`;
  throw usageError(
    name.startsWith('-') ? `The command comes first, not ${name}. See: help.` : `There is no command ${name}. ${hint}`,
  );
}

/** The word a command is chosen by among those of its group. */
function wordOf({ name }: Command): string {
  return name.split(' ').at(-1) ?? name;
}

function unexpected(error: unknown): CommandError {
  const message = error instanceof Error ? error.message : String(error);
  return new CommandError('unreachable', { error: 'internal_error', message }, { cause: error });
}
