import type { StopSource } from '../local/run-stack.ts';
import type { Environment } from '../local/stack-environment.ts';
import type { Terminal } from './terminal.ts';

/** One option of a command, for the parser and for the help text. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly multiple?: true;
  readonly help: string;
  /** Stands for the value in the help text. */
  readonly value?: string;
}

export interface OptionSpecs {
  readonly [name: string]: OptionSpec;
}

type OptionValue<Spec extends OptionSpec> = Spec extends { type: 'boolean' }
  ? boolean
  : Spec extends { multiple: true }
    ? readonly string[]
    : string;

export type OptionValues<Specs extends OptionSpecs> = { readonly [name in keyof Specs]?: OptionValue<Specs[name]> };

/** What a command may use of the world. */
export interface Context {
  readonly terminal: Terminal;
  readonly standardInput: AsyncIterable<Uint8Array>;
  readonly environment: Environment;
  /** How the person started us, for commands to copy. */
  readonly program: string;
  readonly fetch: typeof fetch;
  /** Where Ctrl-C is heard. */
  readonly signals: StopSource;
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  readonly nowMs: () => number;
}

export interface Call<Specs extends OptionSpecs> {
  readonly values: OptionValues<Specs>;
  readonly positionals: readonly string[];
}

export interface CommandDefinition<Specs extends OptionSpecs> {
  readonly name: string;
  readonly summary: string;
  /** Arguments in order; one in brackets may be left out, and a last one that ends in dots may come more than once. */
  readonly arguments: readonly string[];
  readonly options: Specs;
  /** More for the help text, in paragraphs. */
  readonly details?: string;
  /** Without the name of the program. */
  readonly examples: readonly string[];
  /** Of a group: the commands that a second word names. Their own names have both words. */
  readonly topics?: readonly Command[];
  /** Resolves to the exit code. Throws CommandError. */
  run(call: Call<Specs>, context: Context): Promise<number>;
}

export type Command = CommandDefinition<OptionSpecs>;

/** Ties the types of the values to the options as declared; after it, commands are all of one kind. */
export function defineCommand<const Specs extends OptionSpecs>(definition: CommandDefinition<Specs>): Command {
  return definition as unknown as Command;
}

export const JSON_OPTION = {
  json: { type: 'boolean', help: 'print JSON for scripts; errors too, on standard error' },
} as const satisfies OptionSpecs;

/** Options of every command that speaks to a gateway. */
export const CONNECTION_OPTIONS = {
  url: { type: 'string', value: 'URL', help: 'of the gateway; else BATCHGATE_URL, else the local stack that runs' },
  key: { type: 'string', value: 'KEY', help: 'of a tenant; else BATCHGATE_KEY, else that of the local stack' },
  data: { type: 'string', value: 'DIR', help: 'data folder of the local stack to look for (.batchgate)' },
  ...JSON_OPTION,
} as const satisfies OptionSpecs;

export const OPERATOR_OPTIONS = {
  ...CONNECTION_OPTIONS,
  'operator-key': {
    type: 'string',
    value: 'KEY',
    help: 'of an operator; else BATCHGATE_OPERATOR_KEY, else that of the local stack',
  },
} as const satisfies OptionSpecs;

export const ADMIN_OPTIONS = {
  url: CONNECTION_OPTIONS.url,
  'admin-key': {
    type: 'string',
    value: 'KEY',
    help: 'of a gateway admin; else BATCHGATE_ADMIN_KEY, else that of the local stack',
  },
  data: CONNECTION_OPTIONS.data,
  ...JSON_OPTION,
} as const satisfies OptionSpecs;
