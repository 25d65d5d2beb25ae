import { parseArgs } from 'node:util';
import { closest } from './closest.ts';
import type { Call, Command, OptionSpecs } from './command.ts';
import { usageError } from './errors.ts';

/** Reads a command's own arguments. Throws a usage error that names what is wrong and, for a slip, what was meant. */
export function readArguments(command: Command, args: readonly string[]): Call<OptionSpecs> {
  const call = parse(command, args);
  const required = command.arguments.filter((name) => !name.startsWith('['));
  const missing = required[call.positionals.length];
  if (missing !== undefined) throw usageError(`${command.name} needs ${missing}: ${usageLine(command)}`, missing);
  const empty = call.positionals.indexOf('');
  if (empty !== -1) {
    const name = command.arguments[empty] ?? command.arguments.at(-1);
    throw usageError(`${command.name} needs ${name}, and it is empty.`);
  }
  const takesMore = command.arguments.at(-1)?.endsWith('...') === true;
  const extra = takesMore ? undefined : call.positionals[command.arguments.length];
  if (extra !== undefined) {
    throw usageError(`${command.name} takes no further argument "${extra}": ${usageLine(command)}`);
  }
  return call;
}

function usageLine(command: Command): string {
  return [command.name, ...command.arguments, '[options]'].join(' ');
}

function parse(command: Command, args: readonly string[]): Call<OptionSpecs> {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { type, multiple = false }]) => [name, { type, multiple }]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      allowNegative: true,
      strict: true,
    });
    refuseEmpty(values);
    return { values: values as Call<OptionSpecs>['values'], positionals };
  } catch (error) {
    throw plainFault(error, command);
  }
}

/** `--key "$UNSET"` would else be taken for no key at all. */
function refuseEmpty(values: { readonly [name: string]: unknown }): void {
  const empty = Object.keys(values).find((name) => [values[name]].flat().includes(''));
  if (empty !== undefined) throw usageError(`--${empty} is empty.`, `--${empty}`);
}

/** What Node says of a wrong option, without what it says of its own API. */
function plainFault(error: unknown, command: Command): unknown {
  if (!(error instanceof TypeError) || !('code' in error)) return error;
  const option = /'(?:-\w, )?(--?[^\s']+)/.exec(error.message)?.[1];
  const help = `See: help ${command.name}.`;
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && option !== undefined) {
    const meant = closest(
      option,
      Object.keys(command.options).map((name) => `--${name}`),
    );
    const hint = meant === null ? help : `Did you mean ${meant}?`;
    return usageError(`${command.name} has no option ${option}. ${hint}`, option);
  }
  if (error.code !== 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE' || option === undefined) return usageError(error.message);
  const spec = command.options[option.replace(/^--(no-)?/, '')];
  const message =
    spec?.type === 'string'
      ? `${option} needs a value${spec.value === undefined ? '' : `: ${option} ${spec.value}`}. One that starts with a dash is written ${option}=VALUE.`
      : `${option} takes no value.`;
  return usageError(`${message} ${help}`, option);
}
